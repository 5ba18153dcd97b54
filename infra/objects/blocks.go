package objects

import "io"

// blockSize is the size in bytes of the blocks that pending content is kept in.
const blockSize = 64 << 10

// blocks keeps content that grows, without copying it when it grows: only the first block
// starts small. Every block but the last is full.
type blocks struct {
	list [][]byte
	size int // bytes
}

func (b *blocks) write(p []byte) {
	b.size += len(p)
	for len(p) > 0 {
		if len(b.list) == 0 {
			b.list = append(b.list, nil)
		}
		last := &b.list[len(b.list)-1]
		if len(*last) == blockSize {
			b.list = append(b.list, make([]byte, 0, blockSize))
			continue
		}
		n := min(blockSize-len(*last), len(p))
		*last = append(*last, p[:n]...)
		p = p[n:]
	}
}

// content returns a reader of the present content, which later calls do not change.
func (b *blocks) content() *io.SectionReader {
	return io.NewSectionReader(blocksAt(b.list), 0, int64(b.size))
}

// bytes returns a copy of the content.
func (b *blocks) bytes() []byte {
	all := make([]byte, 0, b.size)
	for _, block := range b.list {
		all = append(all, block...)
	}
	return all
}

// blocksAt implements io.ReaderAt.
type blocksAt [][]byte

func (b blocksAt) ReadAt(p []byte, at int64) (n int, err error) {
	for n < len(p) {
		i := int(at+int64(n)) / blockSize
		if i >= len(b) {
			return n, io.EOF
		}
		from := int(at+int64(n)) % blockSize
		if from >= len(b[i]) {
			return n, io.EOF
		}
		n += copy(p[n:], b[i][from:])
	}
	return n, nil
}
