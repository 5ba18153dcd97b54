package results

import "strings"

// Headline is the part of summary.json that a table of many runs shows. Parts are in
// millionths.
type Headline struct {
	BusiestTier string // the tier and direction of links with the highest mean utilisation, such as "rsw ul"; "" without traffic
	MeanLink    int64  // that utilisation
	Bottleneck  string // the kind, tier and direction of the resources that limited flows longest, such as "links fsw dl"; "" without flows
	Share       int64  // their part of the flow time
	Exposed     int64  // mean part of the ranks' time without computation
}

// Headline returns the headline of the summary that Close has written.
func (r *Recorder) Headline() Headline { return r.headline }

// headlineOf returns the headline of a summary.
func headlineOf(x *Explained) (h Headline) {
	for i := range x.Links {
		if l := &x.Links[i]; l.Mean.part() > h.MeanLink {
			h.BusiestTier, h.MeanLink = words(l.Tier, l.Direction), l.Mean.part()
		}
	}
	if len(x.LimitedBy) > 0 {
		most := &x.LimitedBy[0]
		h.Bottleneck, h.Share = words(most.Kind, most.Tier, most.Direction), most.Percent.part()
	}
	if x.RankTime != nil {
		h.Exposed = x.RankTime.ExposedShare.part()
	}
	return h
}

// part returns a percentage as a part, in millionths.
func (m millionths) part() int64 { return (int64(m) + 50) / 100 }

// words joins the words that are not empty.
func words(parts ...string) string {
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
}
