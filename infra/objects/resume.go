package objects

import (
	"context"
	"encoding"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"netsim/fault"
)

// Standing is the state of an upload. Another process can resume the upload from it.
type Standing struct {
	Key, ContentType string
	UploadID         string   // the store's id; empty before the first part is sent
	ETags            []string // of the sent parts, from part 1; each part has partSize bytes
	Pending          []byte   // not sent yet, at most partSize bytes
	Sum              []byte   // the state of the hash of all written content
}

// Stand returns the current state of the upload, and does not end the upload.
func (u *Upload) Stand() (Standing, error) {
	if u.closed || u.err != nil {
		return Standing{}, errors.Join(fmt.Errorf("put %s: the upload has ended", u.key), u.err)
	}
	sum, err := u.sum.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return Standing{}, fmt.Errorf("put %s: %w", u.key, err)
	}
	s := Standing{
		Key: u.key, ContentType: u.contentType, UploadID: aws.ToString(u.uploadID),
		Pending: u.pending.bytes(), Sum: sum,
	}
	for _, p := range u.parts {
		s.ETags = append(s.ETags, aws.ToString(p.ETag))
	}
	return s, nil
}

// GoOn resumes an upload from its state. Writing the same content again makes the
// same object, whatever was written after the state was taken. If the object was
// completed in the meantime, GoOn copies the sent parts from it. If the store does
// not have these parts, the error is fault.NotFound.
func (s *Store) GoOn(ctx context.Context, from Standing) (*Upload, error) {
	u := s.Create(ctx, from.Key, from.ContentType)
	if err := u.sum.(encoding.BinaryUnmarshaler).UnmarshalBinary(from.Sum); err != nil {
		return nil, lostParts(from.Key, err)
	}
	if len(from.Pending) > partSize || len(from.ETags) > maxParts || (from.UploadID == "") != (len(from.ETags) == 0) {
		return nil, lostParts(from.Key, errors.New("the state is inconsistent"))
	}
	u.pending.write(from.Pending)
	u.size = int64(len(from.ETags))*partSize + int64(len(from.Pending))
	if from.UploadID == "" {
		return u, nil
	}
	for i, tag := range from.ETags {
		u.parts = append(u.parts, types.CompletedPart{ETag: aws.String(tag), PartNumber: aws.Int32(int32(i + 1))})
	}
	stored, err := s.ListParts(ctx, from.Key, from.UploadID)
	switch {
	case fault.Is(err, fault.NotFound):
		if err := u.copySentParts(); err != nil {
			return nil, err
		}
		return u, nil
	case err != nil:
		return nil, err
	}
	u.uploadID = &from.UploadID
	for i, tag := range from.ETags {
		if i >= len(stored) || stored[i].Size != partSize || !stored[i].Same(Part{int32(i + 1), tag}) {
			return nil, lostParts(from.Key, fmt.Errorf("part %d is missing or differs", i+1))
		}
	}
	return u, nil
}

// copySentParts begins a new upload and copies the parts that were already sent from
// the completed object.
func (u *Upload) copySentParts() error {
	source := u.store.source(u.key)
	info, err := u.store.Head(u.ctx, u.key)
	if err != nil {
		return err
	}
	if info.Size < int64(len(u.parts))*partSize {
		return lostParts(u.key, fmt.Errorf("the object has %d bytes, less than the sent parts", info.Size))
	}
	id, err := u.store.BeginParts(u.ctx, u.key, u.contentType)
	if err != nil {
		return err
	}
	u.uploadID = &id
	for i := range u.parts {
		tag, err := u.store.copyPart(u.ctx, source, u.key, id, int32(i+1), int64(i)*partSize, partSize)
		if want := *u.parts[i].ETag; err == nil && !(Part{ETag: tag}).Same(Part{ETag: want}) {
			err = lostParts(u.key, fmt.Errorf("part %d of the object differs", i+1))
		}
		if err != nil {
			return errors.Join(err, u.Abort())
		}
	}
	return nil
}

// copyPart copies a range of an object to a part of an upload, and returns the
// part's tag.
func (s *Store) copyPart(ctx context.Context, source, key, id string, number int32, offset, size int64) (tag string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*callTimeout)
	defer cancel()
	out, err := s.client.UploadPartCopy(ctx, &s3.UploadPartCopyInput{
		Bucket: &s.bucket, Key: &key, UploadId: &id, PartNumber: &number, CopySource: &source,
		CopySourceRange: aws.String(fmt.Sprintf("bytes=%d-%d", offset, offset+size-1)),
	})
	if err != nil {
		return "", wrap(err, "copy a part to", key)
	}
	return aws.ToString(out.CopyPartResult.ETag), nil
}

func lostParts(key string, cause error) error {
	return &fault.Fault{
		Code: fault.NotFound, Message: "the upload cannot be resumed",
		Cause: fmt.Errorf("resume %s: %w", key, cause),
	}
}
