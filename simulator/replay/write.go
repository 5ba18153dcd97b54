package replay

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"netsim/simulator/chakra"
	"netsim/simulator/collective"
)

// WriteTraces writes a workload as Chakra traces in the JSON form, one for each rank, and
// returns the number of collectives of all groups. Each phase is a collective that waits for
// the one before. A trace does not say which algorithm a collective has.
func WriteTraces(groups []collective.GroupSpec, create func(rank int) (io.WriteCloser, error)) (collectives int64, err error) {
	rank, several := 0, len(groups) > 1 || len(groups) == 1 && groups[0].Count > 1
	for name, g := range eachGroup(groups) {
		collectives += int64(len(g.Phases))
		for range g.GroupSize {
			w, err := create(rank)
			if err != nil {
				return collectives, err
			}
			of := ""
			if several {
				of = name
			}
			err = writeTrace(w, g.Phases, of)
			if end := w.Close(); err == nil {
				err = end
			}
			if err != nil {
				return collectives, fmt.Errorf("the trace of rank %d: %w", rank, err)
			}
			rank++
		}
	}
	return collectives, nil
}

// GroupsFile returns the ranks of each group in the form of comm_groups.json. One group of
// all ranks needs no such file.
func GroupsFile(groups []collective.GroupSpec) (text []byte, needed bool, err error) {
	members := chakra.Groups{}
	rank := 0
	for name, g := range eachGroup(groups) {
		for range g.GroupSize {
			members[name] = append(members[name], rank)
			rank++
		}
	}
	text, err = json.Marshal(members)
	return text, len(members) > 1, err
}

// eachGroup yields every group with its name, in the order of the ranks.
func eachGroup(groups []collective.GroupSpec) func(yield func(string, *collective.GroupSpec) bool) {
	return func(yield func(string, *collective.GroupSpec) bool) {
		n := 0
		for i := range groups {
			for range groups[i].Count {
				if !yield(strconv.Itoa(n), &groups[i]) {
					return
				}
				n++
			}
		}
	}
}

func writeTrace(w io.Writer, phases []collective.Phase, group string) error {
	out := bufio.NewWriter(w)
	out.WriteString(`{"version":"0.0.4"}` + "\n") //nolint:errcheck // Flush returns the error
	for i, p := range phases {
		kind, err := kindOf(p.OperationType)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, `{"id":"%d","name":"%s %d","type":"COMM_COLL_NODE"`, i, p.OperationType, i) //nolint:errcheck // as above
		if i > 0 {
			fmt.Fprintf(out, `,"dataDeps":["%d"]`, i-1) //nolint:errcheck // as above
		}
		fmt.Fprintf(out, `,"attr":[{"name":"is_cpu_op","boolVal":false},{"name":"comm_type","int64Val":"%d"},{"name":"comm_size","int64Val":"%d"}`, kind, p.DataSize) //nolint:errcheck // as above
		if group != "" {
			fmt.Fprintf(out, `,{"name":"pg_name","stringVal":"%s"}`, group) //nolint:errcheck // as above
		}
		out.WriteString("]}\n") //nolint:errcheck // as above
	}
	return out.Flush()
}

// kindOf returns Chakra's kind of an operation.
func kindOf(operation string) (chakra.Collective, error) {
	switch operation {
	case collective.AllReduce:
		return chakra.AllReduce, nil
	case collective.AllGather:
		return chakra.AllGather, nil
	case collective.ReduceScatter:
		return chakra.ReduceScatter, nil
	case collective.AllToAll:
		return chakra.AllToAll, nil
	case collective.Broadcast:
		return chakra.Broadcast, nil
	case collective.Scatter:
		return chakra.Scatter, nil
	}
	return 0, fmt.Errorf("%s has no kind in Chakra", operation)
}
