package projections

import "time"

// Filter narrows a list by one column, or by a search in several. A filter
// without a value keeps every row.
type Filter struct {
	column string // "" for a search
	add    func(c *conditions)
}

// Equal keeps the rows whose column has the value.
func Equal(column, value string) Filter {
	return Filter{column, func(c *conditions) {
		if value != "" {
			c.add(column+" = ?", value)
		}
	}}
}

// OneOf keeps the rows whose column has one of the values. A nil list keeps every
// row, an empty list none.
func OneOf(column string, values []string) Filter {
	return Filter{column, func(c *conditions) {
		if values != nil {
			c.add(column+" = ANY(?)", values)
		}
	}}
}

// AtLeast keeps the rows whose column is at least the number.
func AtLeast(column string, number int) Filter {
	return Filter{column, func(c *conditions) {
		if number > 0 {
			c.add(column+" >= ?", number)
		}
	}}
}

// Within keeps the rows whose column is in a span of time; from is inclusive, to
// is exclusive. A zero from or to is no bound.
func Within(column string, from, to time.Time) Filter {
	return Filter{column, func(c *conditions) { c.within(column, from, to) }}
}

// Search keeps the rows in which one of the columns contains the text, ignoring
// case.
func Search(text string, columns ...string) Filter {
	return Filter{"", func(c *conditions) { c.contains(text, columns...) }}
}

func (c *conditions) filter(filters []Filter) {
	for _, f := range filters {
		f.add(c)
	}
}
