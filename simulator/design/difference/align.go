package difference

import (
	"bytes"
	"slices"
	"strconv"
)

// align returns, for every element of one list, the index of its partner in the other, -1
// for none. It skips the equal elements at both ends.
func align(from, to []value) []int {
	head, tail := 0, 0
	for head < min(len(from), len(to)) && bytes.Equal(from[head], to[head]) {
		head++
	}
	for tail < min(len(from), len(to))-head && bytes.Equal(from[len(from)-1-tail], to[len(to)-1-tail]) {
		tail++
	}
	where := map[string]int{}
	for j, key := range keys(to[head : len(to)-tail]) {
		where[key] = head + j
	}
	partner := make([]int, len(from))
	for i := range from {
		partner[i] = i
		if i >= len(from)-tail {
			partner[i] += len(to) - len(from)
		}
	}
	for i, key := range keys(from[head : len(from)-tail]) {
		j, ok := where[key]
		if !ok {
			j = -1
		}
		partner[head+i] = j
	}
	return partner
}

// keys returns the keys of a list's elements: the name, or the whole value. Equal keys
// get numbers.
func keys(list []value) []string {
	out := make([]string, len(list))
	seen := make(map[string]int, len(list))
	for i, v := range list {
		key := "value " + string(v)
		if name, ok := nameOf(v); ok {
			key = "name " + name
		}
		seen[key]++
		out[i] = key + "\x00" + strconv.Itoa(seen[key])
	}
	return out
}

// kept returns the partners of the elements that stay in a list.
func kept(partner []int) []int {
	return slices.DeleteFunc(slices.Clone(partner), func(j int) bool { return j < 0 })
}

// added returns which elements of a list of n have no partner.
func added(partner []int, n int) []bool {
	fresh := slices.Repeat([]bool{true}, n)
	for _, j := range kept(partner) {
		fresh[j] = false
	}
	return fresh
}

// settled returns which of the distinct numbers stay in place if the fewest others move
// to sort them: a longest increasing subsequence.
func settled(numbers []int) []bool {
	var tails []int // where the smallest end of a run of each length is
	before := make([]int, len(numbers))
	for i, n := range numbers {
		length, _ := slices.BinarySearchFunc(tails, n, func(at, n int) int { return numbers[at] - n })
		before[i] = -1
		if length > 0 {
			before[i] = tails[length-1]
		}
		if length == len(tails) {
			tails = append(tails, i)
		} else {
			tails[length] = i
		}
	}
	stay := make([]bool, len(numbers))
	if len(tails) > 0 {
		for i := tails[len(tails)-1]; i >= 0; i = before[i] {
			stay[i] = true
		}
	}
	return stay
}
