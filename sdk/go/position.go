package netsim

import (
	"net/http"
	"slices"
	"strings"
	"sync"
)

const (
	positionHeader = "Consistency-Token"
	mostPositions  = 16 // tokens in one header
)

// positions are what the next read has to show: the token of the last read, which stands for
// all that it was sent, and those of the writes since.
//
// With more writes than fit, reads are sent without a token from then on, and answered by the
// database that took the writes.
type positions struct {
	mu   sync.Mutex
	list []string
	many bool
}

// set adds the header to a read that has none, and returns the tokens in it. Streams have
// positions of their own.
func (p *positions) set(r *http.Request) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !reads(r) || r.Context().Value(onceKey{}) != nil || r.Header.Get(positionHeader) != "" || len(p.list) == 0 {
		return nil
	}
	r.Header.Set(positionHeader, strings.Join(p.list, ","))
	return slices.Clone(p.list)
}

// note keeps the token of the answer to a request with these tokens.
func (p *positions) note(r *http.Request, sent []string, response *http.Response) {
	token := response.Header.Get(positionHeader)
	if token == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if reads(r) {
		before := len(p.list)
		p.list = slices.DeleteFunc(p.list, func(t string) bool { return slices.Contains(sent, t) })
		if before-len(p.list) < len(sent) || len(p.list) == mostPositions {
			return // another read at the same time stands for what this one was sent
		}
	} else if p.many = p.many || len(p.list) == mostPositions; p.many {
		p.list = nil
		return
	}
	p.list = append(p.list, token)
}

// forget drops all positions and reports whether there were any.
func (p *positions) forget() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	had := len(p.list) > 0
	p.list = nil
	return had
}
