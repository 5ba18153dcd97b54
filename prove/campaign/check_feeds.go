package main

import (
	"context"
	"slices"
	"strings"
)

// checkFeeds requires that every follower got every fact of its streams once and in
// order (follower.take found what was not), and all streams that its clients made.
func (c *campaign) checkFeeds(context.Context) error {
	for _, f := range c.followers {
		if missing := f.missing(c.facts); len(missing) > 0 {
			c.violate("the feed of %s lacks facts of %d streams, such as %v", f.account, len(missing), missing[:min(len(missing), 3)])
		}
		c.report.FeedEvents += f.events
		c.report.FeedResumed += f.resumed
		var unseen []string
		f.made.mu.Lock()
		for id, r := range f.made.all {
			if r.account == f.account && f.streams[id] == 0 {
				unseen = append(unseen, id)
			}
		}
		f.made.mu.Unlock()
		slices.Sort(unseen)
		if len(unseen) > 0 {
			c.violate("the feed of %s has nothing of %d streams: %s", f.account, len(unseen), strings.Join(unseen[:min(len(unseen), 3)], ", "))
		}
	}
	return nil
}
