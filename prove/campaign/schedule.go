package main

import (
	"math/rand/v2"
	"time"
)

// fault is a step of the schedule. It is a function of the seed and its number alone.
type fault struct {
	Number int           `json:"number"`
	Kind   string        `json:"kind"`
	Target int           `json:"target"` // which of the parts that the kind can hit; taken modulo their number
	Detail int           `json:"detail"` // which variant, for example a trouble of a link
	Lasts  time.Duration `json:"lasts"`
	Pause  time.Duration `json:"pause"` // after it, without a fault
}

// planned returns the fault of a number. Without names it is of any kind.
func planned(seed uint64, number int, names []string) fault {
	random := rand.New(rand.NewPCG(seed, uint64(number)))
	f := fault{Number: number, Target: random.IntN(1 << 16), Detail: random.IntN(1 << 16)}
	f.Lasts = time.Duration(500+random.IntN(7000)) * time.Millisecond
	f.Pause = time.Duration(200+random.IntN(2500)) * time.Millisecond
	if len(names) > 0 {
		f.Kind = names[random.IntN(len(names))]
		return f
	}
	total := 0
	for _, k := range kinds() {
		total += k.weight
	}
	at := random.IntN(total)
	for _, k := range kinds() {
		if at -= k.weight; at < 0 {
			f.Kind = k.name
			break
		}
	}
	return f
}

// once returns the fault of a number in a schedule that has each kind once, in an order
// that follows from the seed. Its faults last at most three seconds, times what the kind
// makes of it: longer ones are for campaigns by hand.
func once(seed uint64, number int) fault {
	order := rand.New(rand.NewPCG(seed, 1<<32)).Perm(len(kinds()))
	f := planned(seed, number, []string{kinds()[order[number]].name})
	f.Lasts = 400*time.Millisecond + f.Lasts/4
	f.Pause /= 4
	return f
}
