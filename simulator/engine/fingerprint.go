package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"reflect"

	"netsim/simulator/schedule"
)

// fingerprint returns a hash of all parts of an input that determine its run.
func fingerprint(in *Input, o Options) [sha256.Size]byte {
	o.MaxFlows, o.ProgressEvents = 0, 0 // these depend on the machine
	w := &walker{sum: sha256.New()}
	w.value(reflect.ValueOf(o))
	w.value(reflect.ValueOf(in.Fabric))
	w.value(reflect.ValueOf(in.Groups))
	w.value(reflect.ValueOf(in.Synchronize))
	w.value(reflect.ValueOf(in.Replay))
	w.value(reflect.ValueOf(in.Hosts))
	w.value(reflect.ValueOf(in.ScaleUp))
	w.value(reflect.ValueOf(in.Traffic))
	w.flush()
	return [sha256.Size]byte(w.sum.Sum(nil))
}

// walker hashes numbers, strings, slices, structs and pointers to them.
type walker struct {
	sum   hash.Hash
	block []byte
}

func (w *walker) number(v uint64) {
	if w.block = binary.AppendUvarint(w.block, v); len(w.block) >= 4096 {
		w.flush()
	}
}

func (w *walker) flush() {
	w.sum.Write(w.block)
	w.block = w.block[:0]
}

func (w *walker) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		n := uint64(0)
		if v.Bool() {
			n = 1
		}
		w.number(n)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w.number(uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		w.number(v.Uint())
	case reflect.String:
		w.number(uint64(v.Len()))
		w.block = append(w.block, v.String()...)
	case reflect.Slice:
		w.number(uint64(v.Len()))
		if v.Type() == reflect.TypeFor[[]schedule.Node]() { // there may be many millions
			w.nodes(v.Interface().([]schedule.Node))
			return
		}
		for i := range v.Len() {
			w.value(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			w.value(v.Field(i))
		}
	case reflect.Pointer:
		if v.IsNil() {
			w.number(0)
			return
		}
		w.number(1)
		w.value(v.Elem())
	default:
		panic("engine: an input holds a " + v.Kind().String())
	}
}

func (w *walker) nodes(list []schedule.Node) {
	for i := range list {
		n := &list[i]
		host := uint64(0)
		if n.CPU {
			host = 1
		}
		for _, v := range [...]uint64{n.ID, uint64(n.Value), uint64(n.Arg), uint64(n.Waits), uint64(n.Op), host} {
			w.number(v)
		}
	}
}
