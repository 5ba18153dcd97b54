package uploads

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"netsim/api"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/objects"
	"netsim/simulator/mapping"
)

const filesAtOnce = 4

// errLost is the error for a staged object that is no longer in the store.
type errLost struct{ key string }

func (e errLost) Error() string { return "nothing is staged at " + e.key }

// join joins the parts that a client names, which must be the parts that it
// uploaded. It compares the parts of all files before it joins any, so that the
// client can upload a wrong part again. sent has the parts of each file.
func (u *Uploads) join(ctx context.Context, kind string, files []events.UploadFile, sent [][]api.UploadedPart) error {
	joins := make([][]objects.Part, len(files))
	compare, compared := errgroup.WithContext(ctx)
	compare.SetLimit(storeCalls)
	for i, f := range files {
		at := "parts"
		if kind == events.UploadTraceset {
			at = fmt.Sprintf("parts of file '%s'", f.Name)
		}
		if err := inOrder(at, kind, f, sent[i]); err != nil {
			return err
		}
		compare.Go(func() (err error) {
			joins[i], err = u.compare(compared, at, kind, f, sent[i])
			return err
		})
	}
	if err := compare.Wait(); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(filesAtOnce)
	for i, f := range files {
		if joins[i] == nil {
			continue
		}
		group.Go(func() error {
			err := u.Objects.JoinParts(ctx, f.ObjectKey, f.StoreID, joins[i])
			if fault.Is(err, fault.NotFound) {
				return errLost{f.ObjectKey}
			}
			return away(err)
		})
	}
	return group.Wait()
}

// inOrder refuses parts that are not numbered 1, 2, 3 …. A file of a traceset
// needs all of its parts, a mapping file may have fewer.
func inOrder(at, kind string, f events.UploadFile, sent []api.UploadedPart) error {
	for i, p := range sent {
		if p.PartNumber != int64(i+1) {
			return fault.New(fault.Validation, "%s must be numbered from 1 without gaps in ascending order, got %d at position %d", at, p.PartNumber, i+1)
		}
	}
	have := int64(len(sent))
	if have > f.Parts || have < f.Parts && kind == events.UploadTraceset {
		return fault.New(fault.Validation, "%s must be the %d of the session, got %d", at, f.Parts, have)
	}
	return nil
}

// compare compares the parts that the client names with the stored ones, and
// returns the parts to join; nil when they are joined already.
func (u *Uploads) compare(ctx context.Context, at, kind string, f events.UploadFile, sent []api.UploadedPart) ([]objects.Part, error) {
	stored, err := u.Objects.ListParts(ctx, f.ObjectKey, f.StoreID)
	if fault.Is(err, fault.NotFound) {
		info, err := u.Objects.Head(ctx, f.ObjectKey)
		if fault.Is(err, fault.NotFound) {
			return nil, errLost{f.ObjectKey}
		}
		if err != nil {
			return nil, away(err)
		}
		return nil, rightSize(kind, f, info.Size)
	}
	if err != nil {
		return nil, away(err)
	}
	byNumber := map[int32]objects.PutPart{}
	for _, p := range stored {
		byNumber[p.Number] = p
	}
	parts, size := make([]objects.Part, len(sent)), int64(0)
	for i, p := range sent {
		named := objects.Part{Number: int32(p.PartNumber), ETag: p.Etag}
		put, ok := byNumber[named.Number]
		switch {
		case !ok:
			return nil, fault.New(fault.Validation, "%s: part %d has not been uploaded", at, p.PartNumber)
		case !put.Same(named):
			return nil, fault.New(fault.Validation, "%s: part %d has another etag than '%s'", at, p.PartNumber, p.Etag)
		}
		parts[i] = put.Part
		size += put.Size
	}
	return parts, rightSize(kind, f, size)
}

// rightSize refuses a file of a traceset that does not have the declared size, and a
// mapping file that is larger than was declared or is allowed (completions 6.2).
func rightSize(kind string, f events.UploadFile, size int64) error {
	switch {
	case kind == events.UploadTraceset && size != f.Size:
		return fault.New(fault.Validation, "file '%s' was declared with %d bytes and has %d", f.Name, f.Size, size)
	case kind == events.UploadMappingFile && size > min(f.Size, mapping.MaxBytes):
		return fault.New(fault.PayloadTooLarge, "the mapping file has %d bytes; at most %d were declared", size, f.Size)
	}
	return nil
}

// pair returns the parts of each file of a session. The client must name every
// file once, and no other.
func pair(files []events.UploadFile, sent []api.UploadedFile) ([][]api.UploadedPart, error) {
	named := map[string][]api.UploadedPart{}
	for _, f := range sent {
		if _, twice := named[f.Name]; twice {
			return nil, fault.New(fault.Validation, "file '%s' is given twice", f.Name)
		}
		named[f.Name] = f.Parts
	}
	pairs := make([][]api.UploadedPart, len(files))
	for i, f := range files {
		parts, ok := named[f.Name]
		if !ok {
			return nil, fault.New(fault.Validation, "file '%s' of the session is missing", f.Name)
		}
		pairs[i] = parts
		delete(named, f.Name)
	}
	for _, f := range sent {
		if _, left := named[f.Name]; left {
			return nil, fault.New(fault.Validation, "file '%s' is none of the session's", f.Name)
		}
	}
	return pairs, nil
}
