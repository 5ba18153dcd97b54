package objects

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
)

const (
	partSize = 8 << 20 // bytes; S3 requires at least 5 MiB in all parts but the last
	maxParts = 10_000
)

// Written returns the number of bytes written.
func (u *Upload) Written() int64 { return u.size }

// Stored describes a written object.
type Stored struct {
	Key    string
	Size   int64  // bytes
	SHA256 string // hex, of the content
}

// Put writes the object from r, whose length need not be known.
func (s *Store) Put(ctx context.Context, key, contentType string, r io.Reader) (Stored, error) {
	u := s.Create(ctx, key, contentType)
	if _, err := io.Copy(u, r); err != nil {
		return Stored{}, errors.Join(fmt.Errorf("put %s: %w", key, err), u.Abort())
	}
	if err := u.Close(); err != nil {
		return Stored{}, err
	}
	return u.Stored(), nil
}

// Upload is an object that is being written. The object does not exist before Close,
// and exists once Close has returned nil.
type Upload struct {
	// Call makes a call to the store and may repeat it. If it returns an error, the
	// upload fails. If Call is nil, the upload fails with the first failed call.
	Call func(call func() error) error

	ctx         context.Context // from Create, because io.Writer has no context
	store       *Store
	key         string
	contentType string

	pending  blocks // at most one part
	size     int64
	sum      hash.Hash
	uploadID *string // id of the multipart upload; nil while everything fits in one part
	parts    []types.CompletedPart
	err      error // the first error; every later call fails with it
	closed   bool
}

// Create begins an object. The caller ends it with Close or with Abort.
func (s *Store) Create(ctx context.Context, key, contentType string) *Upload {
	return &Upload{ctx: ctx, store: s, key: key, contentType: contentType, sum: sha256.New()}
}

// Write buffers content, and sends a full part when more content follows.
func (u *Upload) Write(p []byte) (int, error) {
	if u.closed {
		return 0, fmt.Errorf("put %s: the upload is closed", u.key)
	}
	written := 0
	for len(p) > 0 && u.err == nil {
		if u.pending.size == partSize {
			u.err = u.call(u.sendPart)
			continue
		}
		n := min(partSize-u.pending.size, len(p))
		u.pending.write(p[:n])
		u.sum.Write(p[:n])
		p, written = p[n:], written+n
	}
	u.size += int64(written)
	return written, u.err
}

// Close completes the object. After an error it removes the sent parts, and the object
// does not exist, unless the store completed it and only the answer was lost.
func (u *Upload) Close() error {
	if u.closed {
		return u.err
	}
	if u.err == nil {
		u.err = u.finish()
	}
	if u.err != nil {
		return errors.Join(u.err, u.Abort())
	}
	u.closed = true
	return nil
}

// Abort removes the sent parts. After Close it does nothing.
func (u *Upload) Abort() error {
	if u.closed {
		return nil
	}
	u.closed = true
	if u.err == nil {
		u.err = fmt.Errorf("put %s: aborted", u.key)
	}
	if u.uploadID == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(u.ctx), callTimeout)
	defer cancel()
	_, err := u.store.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{
		Bucket: &u.store.bucket, Key: &u.key, UploadId: u.uploadID,
	})
	return wrap(err, "abort", u.key)
}

// Stored describes the object, which exists once Close has returned nil.
func (u *Upload) Stored() Stored {
	return Stored{Key: u.key, Size: u.size, SHA256: hex.EncodeToString(u.sum.Sum(nil))}
}

func (u *Upload) finish() error {
	if u.uploadID == nil {
		return u.call(u.putWhole)
	}
	if err := u.call(u.sendPart); err != nil {
		return err
	}
	return u.call(u.join)
}

func (u *Upload) call(f func() error) error {
	if u.Call == nil {
		return f()
	}
	return u.Call(f)
}

func (u *Upload) join() error {
	ctx, cancel := context.WithTimeout(u.ctx, 10*callTimeout) // the store may copy the parts during the call
	defer cancel()
	_, err := u.store.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: &u.store.bucket, Key: &u.key, UploadId: u.uploadID,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: u.parts},
	})
	if api, ok := errors.AsType[smithy.APIError](err); ok && api.ErrorCode() == noSuchUpload {
		// An earlier call may have joined the parts although its answer was lost.
		if info, e := u.store.Head(u.ctx, u.key); e == nil && info.Size == u.size {
			return nil
		}
		return lostParts(u.key, err)
	}
	return wrap(err, "complete", u.key)
}

func (u *Upload) putWhole() error {
	ctx, cancel := context.WithTimeout(u.ctx, partTimeout)
	defer cancel()
	sum := u.Stored().SHA256
	if u.store.direct.put(ctx, u.key, u.contentType, sum, func() io.Reader { return u.pending.content() }, u.pending.size) {
		return nil
	}
	_, err := u.store.client.PutObject(hashed(ctx, sum), &s3.PutObjectInput{
		Bucket: &u.store.bucket, Key: &u.key, ContentType: &u.contentType,
		Body: u.pending.content(), ContentLength: aws.Int64(int64(u.pending.size)),
	})
	return wrap(err, "put", u.key)
}

const partTimeout = 2 * time.Minute // 8 MiB at 70 KB/s

// sendPart sends the pending bytes as the next part.
func (u *Upload) sendPart() error {
	if len(u.parts) == maxParts {
		return fmt.Errorf("put %s: larger than %d bytes", u.key, int64(maxParts)*partSize)
	}
	ctx, cancel := context.WithTimeout(u.ctx, partTimeout)
	defer cancel()
	if u.uploadID == nil {
		out, err := u.store.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
			Bucket: &u.store.bucket, Key: &u.key, ContentType: &u.contentType,
		})
		if err != nil {
			return wrap(err, "begin", u.key)
		}
		u.uploadID = out.UploadId
	}
	number := aws.Int32(int32(len(u.parts) + 1))
	out, err := u.store.client.UploadPart(ctx, &s3.UploadPartInput{
		Bucket: &u.store.bucket, Key: &u.key, UploadId: u.uploadID, PartNumber: number,
		Body: u.pending.content(), ContentLength: aws.Int64(int64(u.pending.size)),
	})
	if api, ok := errors.AsType[smithy.APIError](err); ok && api.ErrorCode() == noSuchUpload {
		return lostParts(u.key, err) // another process has ended the upload
	}
	if err != nil {
		return wrap(err, "put part of", u.key)
	}
	u.parts = append(u.parts, types.CompletedPart{ETag: out.ETag, PartNumber: number})
	u.pending = blocks{}
	return nil
}
