! SPDX-License-Identifier: Apache-2.0
! A module's function, called a thousand times: gfortran has the hooks of gcc.
module work
contains
  integer function leaf(x)
    integer, intent(in) :: x
    leaf = x + 1
  end function
end module

program main
  use work
  integer :: i, s
  s = 0
  do i = 1, 1000
    s = s + leaf(mod(s, 7) + i)
  end do
  if (s == 0) stop 1
end program
