package audit

import (
	"time"

	"netsim/events"
)

// decode reads an event's data. Most of a log of billing is billing events and
// daily costs; those are read here, as pointers, an order of magnitude faster
// than events.Decode does, as long as they stand in the form in which the
// service writes them. Everything else is left to events.Decode.
func decode(eventType string, value []byte) (any, error) {
	switch eventType {
	case usageType:
		if u, ok := readUsage(value); ok {
			return u, nil
		}
	case costType:
		if c, ok := readCost(value); ok {
			return c, nil
		}
	}
	data, err := events.Decode(eventType, value)
	switch d := data.(type) {
	case events.UsageRecorded:
		return &d, err
	case events.DailyCostRated:
		return &d, err
	}
	return data, err
}

const (
	usageType = "netsim.billing.usage_recorded.v1"
	costType  = "netsim.billing.daily_cost_rated.v1"
)

func readUsage(value []byte) (*events.UsageRecorded, bool) {
	u := new(events.UsageRecorded)
	s := scan{text: string(value)}
	s.object(func(key string) {
		switch key {
		case "billingEventId":
			u.BillingEventID = s.integer()
		case "billingItemId":
			u.BillingItemID = s.integer()
		case "eventType":
			u.Meter = s.str()
		case "eventAction":
			u.Action = s.str()
		case "rateName":
			u.RateName = s.str()
		case "itemName":
			u.ItemName = s.str()
		case "previousCount":
			u.PreviousCount = s.integer()
		case "currentCount":
			u.CurrentCount = s.integer()
		case "totalBillableCount":
			u.BillableCount = s.integer()
		case "workspaceId":
			u.WorkspaceID = s.str()
		case "sandboxId":
			u.SandboxID = s.str()
		case "userId":
			u.UserID = s.str()
		case "resourceType":
			u.ResourceType = s.str()
		case "resourceId":
			u.ResourceID = s.str()
		case "causeType":
			u.CauseType = s.str()
		case "ranks":
			u.Ranks = s.integer()
		case "sizeBytes":
			u.SizeBytes = s.integer()
		case "engine":
			u.Engine = s.str()
		case "occurredAt":
			u.OccurredAt = s.time()
		default:
			s.odd = true
		}
	})
	return u, s.whole()
}

func readCost(value []byte) (*events.DailyCostRated, bool) {
	c := new(events.DailyCostRated)
	s := scan{text: string(value)}
	s.object(func(key string) {
		switch key {
		case "dailyCostId":
			c.DailyCostID = s.integer()
		case "billingItemId":
			c.BillingItemID = s.integer()
		case "itemName":
			c.ItemName = s.str()
		case "date":
			c.Date = s.str()
		case "rateId":
			c.RateID = s.integer()
		case "rateName":
			c.RateName = s.str()
		case "rateAmount":
			c.RateAmount = s.str()
		case "cost":
			c.Cost = s.str()
		case "previousCost":
			c.PreviousCost = s.str()
		case "currency":
			c.Currency = s.str()
		case "quantity":
			c.Quantity = s.integer()
		case "workspaceId":
			c.WorkspaceID = s.str()
		case "sandboxId":
			c.SandboxID = s.str()
		case "userId":
			c.UserID = s.str()
		case "segments":
			s.odd = s.odd || c.Segments != nil
			c.Segments = s.segments()
		case "dayPrice":
			c.DayPrice = s.str()
		case "unitDays":
			c.UnitDays = s.str()
		case "period":
			c.Period = s.str()
		case "tierStart":
			c.TierStart = s.integer()
		case "tierEnd":
			c.TierEnd = s.integer()
		case "engineVersion":
			c.EngineVersion = s.str()
		case "firstEventId":
			c.FirstEventID = s.integer()
		case "lastEventId":
			c.LastEventID = s.integer()
		case "version":
			c.Version = s.integer()
		case "supersedes":
			c.Supersedes = s.integer()
		case "correctionOf":
			c.CorrectionOf = s.integer()
		default:
			s.odd = true
		}
	})
	return c, s.whole()
}

func (s *scan) segments() []events.CostSegment {
	segments := make([]events.CostSegment, 0, 1)
	s.array(func() {
		var g events.CostSegment
		s.object(func(key string) {
			switch key {
			case "from":
				g.From = s.time()
			case "to":
				g.To = s.time()
			case "units":
				g.Units = s.integer()
			case "fraction":
				g.Fraction = s.str()
			case "count":
				g.Count = s.integer()
			default:
				s.odd = true
			}
		})
		segments = append(segments, g)
	})
	return segments
}

// scan reads JSON as the service writes it: no white space, no escapes, plain
// ASCII, whole numbers. At anything else it is odd, and what it has read is not
// to be used. The strings share the text's memory.
type scan struct {
	text string
	at   int
	odd  bool
}

// whole reports whether the text was read to its end and nothing was odd.
func (s *scan) whole() bool { return !s.odd && s.at == len(s.text) }

// take reads one byte that must be there.
func (s *scan) take(c byte) {
	if s.odd || s.at >= len(s.text) || s.text[s.at] != c {
		s.odd = true
		return
	}
	s.at++
}

func (s *scan) next(c byte) bool {
	if s.odd || s.at >= len(s.text) || s.text[s.at] != c {
		return false
	}
	s.at++
	return true
}

func (s *scan) object(member func(key string)) {
	s.take('{')
	if s.next('}') {
		return
	}
	for !s.odd {
		key := s.str()
		s.take(':')
		if s.odd {
			return
		}
		member(key)
		if s.next('}') {
			return
		}
		s.take(',')
	}
}

func (s *scan) array(element func()) {
	s.take('[')
	if s.next(']') {
		return
	}
	for !s.odd {
		element()
		if s.next(']') {
			return
		}
		s.take(',')
	}
}

func (s *scan) str() string {
	s.take('"')
	if s.odd {
		return ""
	}
	for i := s.at; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '"':
			read := s.text[s.at:i]
			s.at = i + 1
			return read
		case c < ' ' || c == '\\' || c > '~':
			s.odd = true
			return ""
		}
	}
	s.odd = true
	return ""
}

func (s *scan) integer() (n int64) {
	minus := s.next('-')
	from := s.at
	for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
		n = n*10 + int64(s.text[s.at]-'0')
		s.at++
	}
	digits := s.at - from
	if digits == 0 || digits > 18 || digits > 1 && s.text[from] == '0' || minus && n == 0 {
		s.odd = true
	}
	if minus {
		return -n
	}
	return n
}

// time reads a time of UTC such as 2026-11-21T03:04:05.678Z, with up to nine
// digits after the point, or without it.
func (s *scan) time() time.Time {
	text := s.str()
	const least = len("2026-11-21T03:04:05Z")
	if len(text) < least || len(text) == least+1 || len(text) > least+10 || text[len(text)-1] != 'Z' {
		s.odd = true
		return time.Time{}
	}
	number := func(from, to int) (n int) {
		for _, c := range []byte(text[from:to]) {
			if c < '0' || c > '9' {
				s.odd = true
			}
			n = n*10 + int(c-'0')
		}
		return n
	}
	year, month, day := number(0, 4), number(5, 7), number(8, 10)
	hour, minute, second, nanos := number(11, 13), number(14, 16), number(17, 19), 0
	if len(text) > least {
		nanos = number(20, len(text)-1)
		for range 9 - (len(text) - 1 - 20) {
			nanos *= 10
		}
	}
	if text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':' ||
		len(text) > least && text[19] != '.' || hour > 23 || minute > 59 || second > 59 {
		s.odd = true
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, nanos, time.UTC)
	if t.Day() != day || t.Month() != time.Month(month) || year == 0 {
		s.odd = true
	}
	return t
}
