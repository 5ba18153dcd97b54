package audit

import "time"

// scan reads JSON in the form in which the service writes it: no white space, no
// escapes, ASCII only, integers. Anything else sets odd; the values read before
// then must not be used.
type scan struct {
	text []byte
	at   int
	odd  bool
	seen *words
}

// words caches the last value of each string member. Most values are the same in
// many events in a row, which then share one copy.
type words [16]string

// word reads a string through the cache entry seen[number].
func (s *scan) word(number int) string {
	text := s.token()
	if s.seen == nil {
		return string(text)
	}
	if string(text) != s.seen[number] {
		s.seen[number] = string(text)
	}
	return s.seen[number]
}

func (s *scan) str() string { return string(s.token()) }

// whole reports whether the text was read to its end and odd is not set.
func (s *scan) whole() bool { return !s.odd && s.at == len(s.text) }

// take reads the byte c, or sets odd if it does not come next.
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

func (s *scan) object(member func(key []byte)) {
	s.take('{')
	if s.next('}') {
		return
	}
	for !s.odd {
		key := s.token()
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

// token reads a string and returns it as a part of text, not a copy.
func (s *scan) token() []byte {
	s.take('"')
	if s.odd {
		return nil
	}
	for i := s.at; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '"':
			read := s.text[s.at:i]
			s.at = i + 1
			return read
		case c < ' ' || c == '\\' || c > '~':
			s.odd = true
			return nil
		}
	}
	s.odd = true
	return nil
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

// time reads a UTC time such as 2026-11-21T03:04:05.678Z. The fraction is optional
// and has up to nine digits.
func (s *scan) time() time.Time {
	text := s.token()
	const least = len("2026-11-21T03:04:05Z")
	if len(text) < least || len(text) == least+1 || len(text) > least+10 || text[len(text)-1] != 'Z' {
		s.odd = true
		return time.Time{}
	}
	number := func(from, to int) (n int) {
		for _, c := range text[from:to] {
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
