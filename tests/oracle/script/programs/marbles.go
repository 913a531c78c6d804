// SPDX-License-Identifier: Apache-2.0

// Names as Go makes them: methods, closures, interfaces, goroutines, the runtime.
package main

import (
	"fmt"
	"sort"
	"strings"
)

type marble interface{ roll(rounds int) uint64 }

type glass struct{ weight uint64 }
type steel struct{ weight uint64 }

//go:noinline
func (m *glass) roll(rounds int) uint64 {
	sum := m.weight
	for i := 0; i < rounds; i++ {
		sum = sum*31 ^ uint64(i)
	}
	return sum
}

//go:noinline
func (m steel) roll(rounds int) uint64 {
	sum := uint64(0)
	for i := 0; i < rounds; i++ {
		sum += m.weight * uint64(i)
	}
	return sum
}

func main() {
	marbles := []marble{&glass{3}, steel{5}}
	sums := make(chan uint64)
	for worker := 0; worker < 4; worker++ {
		go func(number int) {
			sum := uint64(number)
			for round := 0; round < 10; round++ {
				for _, one := range marbles {
					sum += one.roll(300000)
				}
			}
			sums <- sum
		}(worker)
	}
	total := uint64(0)
	for worker := 0; worker < 4; worker++ {
		total += <-sums
	}
	words := map[string]int{}
	for i := 0; i < 60000; i++ {
		words[strings.Repeat("x", i%50)+fmt.Sprint(i%999)] += i
	}
	keys := make([]string, 0, len(words))
	for key := range words {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	fmt.Println(total, len(keys))
}
