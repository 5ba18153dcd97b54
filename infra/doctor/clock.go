package doctor

import (
	"fmt"
	"time"
)

// Differences between the clocks of this machine and a component.
const (
	clockWarn = 2 * time.Second
	clockFail = 20 * time.Second // tokens are accepted for 30 s around their times, signatures for longer
)

const clockAdvice = "synchronise the clocks of all machines (NTP): tokens, signed links and the times of events depend on them"

// compareClocks compares the clock of a component with this machine's. The difference is
// positive if the component is ahead, and may be wrong by at most the uncertainty.
func compareClocks(difference, uncertainty time.Duration) Result {
	sure := max(difference, -difference) - uncertainty
	direction := "ahead of"
	if difference < 0 {
		direction = "behind"
	}
	text := fmt.Sprintf("%v %s this machine's clock", max(difference, -difference).Round(time.Millisecond), direction)
	switch {
	case sure >= clockFail:
		return Failure(clockAdvice, "%s", text)
	case sure >= clockWarn:
		return Warning(clockAdvice, "%s", text)
	}
	return Good("agrees with this machine's clock to %v", max(uncertainty, difference, -difference).Round(time.Millisecond))
}
