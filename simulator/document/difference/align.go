package difference

import (
	"bytes"
	"slices"
	"strconv"
)

// align returns, for every element of one list, the index of its partner in the other, or
// -1 if it has none. Equal elements at both ends of the lists are partners without a search.
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

// keys returns the keys of a list's elements: the name of an element, or its whole value
// if it has no name. A number makes equal keys distinct.
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

// added reports which elements of the later list, of length n, have no partner.
func added(partner []int, n int) []bool {
	fresh := slices.Repeat([]bool{true}, n)
	for _, j := range kept(partner) {
		fresh[j] = false
	}
	return fresh
}

// settled reports which of the distinct numbers can stay in place if as few as possible
// move to sort them. They are a longest increasing subsequence.
func settled(numbers []int) []bool {
	var tails []int // by length: index of the smallest end of a subsequence
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
