package engine

// The solver's shares are a binary heap, least first. Equal shares are ordered by
// resource, so the order is the same on every machine.

func (a share) less(b share) bool {
	return a.rate < b.rate || a.rate == b.rate && a.resource < b.resource
}

func (s *solver) push(v share) {
	s.heap = append(s.heap, v)
	i := len(s.heap) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !v.less(s.heap[parent]) {
			break
		}
		s.heap[i] = s.heap[parent]
		i = parent
	}
	s.heap[i] = v
}

func (s *solver) pop() {
	last := len(s.heap) - 1
	s.heap[0] = s.heap[last]
	s.heap = s.heap[:last]
	if last > 0 {
		s.sink(0)
	}
}

func (s *solver) sink(i int) {
	v := s.heap[i]
	for {
		child := 2*i + 1
		if child >= len(s.heap) {
			break
		}
		if child+1 < len(s.heap) && s.heap[child+1].less(s.heap[child]) {
			child++
		}
		if !s.heap[child].less(v) {
			break
		}
		s.heap[i] = s.heap[child]
		i = child
	}
	s.heap[i] = v
}
