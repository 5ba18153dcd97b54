package feed

import "encoding/binary"

// positionVersion is the first byte of an encoded position.
const positionVersion = 1

// appendPosition appends the offsets to dst, each as a varint.
func appendPosition(dst []byte, offsets []int64) []byte {
	dst = append(dst, positionVersion)
	for _, offset := range offsets {
		dst = binary.AppendUvarint(dst, uint64(offset))
	}
	return dst
}

// readPosition reads count offsets, which must be all that the position has.
func readPosition(position []byte, count int) ([]int64, error) {
	if len(position) == 0 || position[0] != positionVersion {
		return nil, errPosition
	}
	position = position[1:]
	offsets := make([]int64, count)
	for i := range offsets {
		offset, n := binary.Uvarint(position)
		if n <= 0 || int64(offset) < 0 {
			return nil, errPosition
		}
		offsets[i], position = int64(offset), position[n:]
	}
	if len(position) > 0 {
		return nil, errPosition
	}
	return offsets, nil
}
