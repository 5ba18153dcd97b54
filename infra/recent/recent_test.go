package recent_test

import (
	"testing"

	"netsim/infra/recent"
)

func TestAValueStaysUntilTheSecondTurnAfterItsLastUse(t *testing.T) {
	t.Parallel()
	var c recent.Cache[string, int]
	has := func(want bool, when string) {
		t.Helper()
		if _, found := c.Get("a"); found != want {
			t.Errorf("%s: found %t, want %t", when, found, want)
		}
	}
	has(false, "empty")
	c.Put("a", 1)
	if c.Turn(1) != nil {
		t.Error("a generation of one value turned, under a limit of one")
	}
	c.Turn(0)
	has(true, "after one turn")
	c.Put("b", 2)
	c.Turn(0)
	c.Put("c", 3)
	if n := c.Len(); n != 3 {
		t.Errorf("%d values, want 3", n)
	}
	if dropped := c.Turn(0); len(dropped) != 2 || dropped["a"] != 1 || dropped["b"] != 2 {
		t.Errorf("the second turn after the last use dropped %v, want a and b", dropped)
	}
	has(false, "after the second turn")
}
