//go:build faketime

package dst

// eachPartition answers a request that names partitions of topics: read returns a topic's
// name and partitions, answer answers one partition, and write makes the topic's answer.
func eachPartition[T, P, A, R any](topics []T, read func(T) (string, []P), answer func(topic string, one P) A, write func(topic string, all []A) R) (out []R) {
	for _, t := range topics {
		name, partitions := read(t)
		answers := make([]A, len(partitions))
		for i, one := range partitions {
			answers[i] = answer(name, one)
		}
		out = append(out, write(name, answers))
	}
	return out
}
