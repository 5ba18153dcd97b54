package topology

// Forks reports for each switch whether it may choose among several links: to the next
// tier, to one rack or pod, or, for the NICs below it, among links to several switches. What
// the other switches are told to do with equal paths has no effect.
func (f *Fabric) Forks() []bool {
	forks := make([]bool, f.switches)
	seen := make([]int32, len(f.Nodes)) // the last directed bundle into which the node sends, plus one
	for b := range f.Bundles {
		links := f.Bundles[b].Links
		for _, id := range links {
			l := &f.Links[id]
			if f.Nodes[l.Lower].Type == NICNode {
				forks[l.Upper] = forks[l.Upper] || len(links) > 1
				continue
			}
			for down, sender := range [2]int32{l.Lower, l.Upper} {
				if at := int32(2*b + down + 1); seen[sender] == at {
					forks[sender] = true
				} else {
					seen[sender] = at
				}
			}
		}
	}
	return forks
}
