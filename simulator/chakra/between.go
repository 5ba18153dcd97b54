package chakra

import (
	"fmt"
	"slices"
)

// message calls take with the channel of a send or receive, or records why the node has
// none. A missing tag is 0.
func (in *inspection) message(f rankFile, n *Node, take func(c channel, role Role)) {
	own, peer, c := "comm_src", "comm_dst", channel{from: int64(f.rank), to: n.Destination, tag: n.Tag}
	given, other := n.Source, n.Destination
	switch role := n.Role(); role {
	case Receive:
		own, peer, c = "comm_dst", "comm_src", channel{from: n.Source, to: int64(f.rank), tag: n.Tag}
		given, other = n.Destination, n.Source
	case Send:
	default:
		return
	}
	about := f.about(CheckMessages, n.ID)
	switch {
	case other == Absent:
		in.find(about, "%s is missing", peer)
	case other < 0 || other >= int64(in.ranks):
		in.find(about, "%s is rank %d, and there are %d ranks", peer, other, in.ranks)
	case given != Absent && given != int64(f.rank):
		in.find(about, "%s is rank %d in the file of rank %d", own, given, f.rank)
	default:
		if c.tag == Absent {
			c.tag = 0
		}
		take(c, n.Role())
	}
}

// checkMessages finds the sends without receives and the receives without sends. It warns
// of sizes that differ.
func (in *inspection) checkMessages(files []rankFile) error {
	found := in.pairing.uneven()
	if len(found.sums) == 0 {
		return nil
	}
	quiet := inspection{limits: in.limits, ranks: in.ranks} // its findings are recorded already
	for _, f := range files {
		err := in.read(f, nodes(func(n *Node) error {
			quiet.message(f, n, func(c channel, role Role) { found.take(c, role, n) })
			return nil
		}))
		if err != nil {
			return fmt.Errorf("inspect %s: %w", f.Name, err)
		}
	}
	for _, c := range found.sorted() {
		e := found.channels[c]
		sender, receiver := files[c.from], files[c.to]
		switch {
		case e.sends.Count > e.receives.Count:
			in.find(sender.about(CheckMessages, e.lastSend), "rank %d sends %d messages to rank %d with tag %d, which receives %d",
				c.from, e.sends.Count, c.to, c.tag, e.receives.Count)
		case e.sends.Count < e.receives.Count:
			in.find(receiver.about(CheckMessages, e.lastReceive), "rank %d receives %d messages from rank %d with tag %d, which sends %d",
				c.to, e.receives.Count, c.from, c.tag, e.sends.Count)
		case e.sizes != 0:
			about := sender.about(CheckMessages, e.lastSend)
			about.Warning = true
			in.find(about, "rank %d sends to rank %d with tag %d messages of other sizes (%d bytes in all) than that rank receives (%d bytes)",
				c.from, c.to, c.tag, e.sends.Bytes, e.receives.Bytes)
		}
	}
	return nil
}

// checkGroups checks that the members of each process group have the same number of
// collectives of each kind. Order and sizes may differ.
func (in *inspection) checkGroups() {
	users := map[string][]int{} // ranks, by the group of their collectives
	usable := map[string]bool{}
	for _, t := range in.Traces {
		for _, c := range t.Collectives {
			ranks, known := users[c.Group]
			if !known {
				usable[c.Group] = in.checkGroup(t, c)
			}
			if known && ranks[len(ranks)-1] == t.Rank {
				continue
			}
			users[c.Group] = append(ranks, t.Rank)
			members, defined := in.groups[c.Group]
			if _, member := slices.BinarySearch(members, t.Rank); defined && !member {
				in.find(t.about(c), "rank %d is not a member of process group %q", t.Rank, c.Group)
			}
		}
	}
	compared := map[collectiveKey]bool{}
	for _, t := range in.Traces {
		for _, c := range t.Collectives {
			key := collectiveKey{c.Group, c.Kind}
			if usable[c.Group] && !compared[key] {
				in.compare(t, c, in.members(c.Group, users))
			}
			compared[key] = true
		}
	}
}

func (t *Trace) about(c CollectiveTraffic) Finding {
	return Finding{Check: CheckGroups, File: t.File, Rank: t.Rank, Node: c.First, HasNode: true}
}

// checkGroup checks a group when it is first used, and reports whether its members are
// known.
func (in *inspection) checkGroup(t Trace, c CollectiveTraffic) bool {
	members, defined := in.groups[c.Group]
	about := t.about(c)
	switch {
	case c.Group == "":
		return true
	case !defined && len(in.groups) == 0:
		about.Warning = true
		in.find(about, "process group %q is not defined (there is no comm_groups.json); its members are the ranks that use it", c.Group)
		return true
	case !defined:
		in.find(about, "process group %q is not defined in comm_groups.json", c.Group)
		return false
	case members[len(members)-1] >= in.ranks:
		in.find(about, "process group %q has rank %d, and there are %d ranks", c.Group, members[len(members)-1], in.ranks)
		return false
	default:
		return true
	}
}

// members returns a group's ranks.
func (in *inspection) members(group string, users map[string][]int) []int {
	if group == "" {
		all := make([]int, in.ranks)
		for rank := range all {
			all[rank] = rank
		}
		return all
	}
	if members, defined := in.groups[group]; defined {
		return members
	}
	return users[group]
}

// compare checks that the other members of the group have as many collectives of a kind
// as the rank.
func (in *inspection) compare(t Trace, c CollectiveTraffic, members []int) {
	for _, other := range members {
		if count := in.Traces[other].count(c.Group, c.Kind); count != c.Count {
			in.find(t.about(c), "rank %d has %d %s of process group %q, and rank %d has %d", t.Rank, c.Count, c.Kind, c.Group, other, count)
			return
		}
	}
}

// count returns how many collectives of one kind in one group the rank has.
func (t *Trace) count(group string, kind Collective) int64 {
	i, found := slices.BinarySearchFunc(t.Collectives, collectiveKey{group, kind}, func(c CollectiveTraffic, k collectiveKey) int {
		return compareKeys(collectiveKey{c.Group, c.Kind}, k)
	})
	if !found {
		return 0
	}
	return t.Collectives[i].Count
}
