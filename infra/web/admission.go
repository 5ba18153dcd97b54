package web

import (
	"fmt"
	"math"
	"net/http"
	"time"

	"netsim/fault"
)

// Class is the cost class of a request. The contract states the class of each
// operation.
type Class string

// The cost classes.
const (
	ClassRead    Class = "read"    // a few indexed queries
	ClassWrite   Class = "write"   // appends a record to the log and waits for its verdict
	ClassHeavy   Class = "heavy"   // takes much computation or memory
	ClassStream  Class = "stream"  // streams its response
	ClassUpload  Class = "upload"  // receives files, at the pace of the client
	ClassContent Class = "content" // reads stored files, for minutes
)

// Classes lists every class.
func Classes() []Class {
	return []Class{ClassRead, ClassWrite, ClassHeavy, ClassStream, ClassUpload, ClassContent}
}

// policies returns how the slots of each class are shared. Streams do not queue,
// because their slots rarely become free. Uploads and reads of files hold a slot for
// long, so one account gets a smaller share of their slots. How long an upload holds its
// slot depends on its client, so the slowest upload yields its slot to a waiting one.
func policies() map[Class]policy {
	return map[Class]policy{
		ClassRead:    {share: 0.75, wait: 2 * time.Second, usual: 10 * time.Millisecond},
		ClassWrite:   {share: 0.75, wait: 2 * time.Second, usual: 20 * time.Millisecond},
		ClassHeavy:   {share: 0.75, wait: 5 * time.Second, usual: 50 * time.Millisecond},
		ClassStream:  {share: 0.75},
		ClassUpload:  {share: 0.25, wait: 5 * time.Second, usual: time.Second, yield: time.Second},
		ClassContent: {share: 0.25, wait: 5 * time.Second, usual: time.Second},
	}
}

// QuotaStreams is the quota of an account's open streams.
const QuotaStreams = "streams.open"

// QuotaOf returns the name of the quota of requests per second in a class.
func QuotaOf(c Class) string {
	const prefix = "requests."
	switch c { // each request asks, so the names are constants
	case ClassRead:
		return prefix + string(ClassRead)
	case ClassWrite:
		return prefix + string(ClassWrite)
	case ClassHeavy:
		return prefix + string(ClassHeavy)
	case ClassStream:
		return prefix + string(ClassStream)
	case ClassUpload:
		return prefix + string(ClassUpload)
	case ClassContent:
		return prefix + string(ClassContent)
	}
	return prefix + string(c)
}

// Costs returns the account that a request is charged to, and its class.
type Costs = func(*http.Request) (account string, class Class)

// Admission decides which requests are served now. These rules keep one account
// from starving another:
//
//   - Each account has a quota of requests per second in each class (Receive).
//   - A body is read before its request takes a slot. A client that sends slowly
//     uses only its account's memory for bodies, which is a fraction of the total
//     memory for bodies. A body has a bounded time to arrive (Receive).
//   - The body of an upload is read while it holds a slot. It has a least rate.
//   - When the memory for bodies or the slots for uploads are used up, the slowest body
//     of an account that uses more than the waiting one is refused (slowest).
//   - A class has a fixed number of slots, and one account never holds all of
//     them (Serve). A slot that becomes free goes to the waiting account that
//     holds the fewest. Every waiting account therefore gets one slot before any
//     account gets two.
//   - A request waits only if it can expect a slot within the class's longest wait.
//     The estimate uses the average time that slots are held and the account's
//     share of them. Otherwise the request is refused at once: with 429 when its
//     account uses its whole share, with 503 when other accounts use the slots.
//
// Every process counts by itself. A request that is refused has had no effect.
type Admission struct {
	config AdmissionConfig
	slots  map[Class]*slots
	rates  rates
	bodies memory
}

// AdmissionConfig has the limits of an Admission.
type AdmissionConfig struct {
	Slots map[Class]int // requests served at a time
	// Quota is the limit of an account by the quota's name: QuotaStreams, or
	// QuotaOf a class.
	Quota         func(account, name string) int64
	BodyTime      time.Duration // time that a client may make the reader of a body wait
	BodyRate      int64         // bytes of an upload that give its client a second more
	BodyMemory    int64         // bytes for the bodies of all requests
	AccountMemory int64         // bytes for the bodies of one account
	Now           func() time.Time
	Refused       func(Class, fault.Code) // when set, called for every request that is not admitted
}

// NewAdmission returns an Admission with these limits.
func NewAdmission(c AdmissionConfig) *Admission {
	if c.Refused == nil {
		c.Refused = func(Class, fault.Code) {}
	}
	a := &Admission{
		config: c, slots: map[Class]*slots{}, rates: newRates(c.Now),
		bodies: memory{max: c.BodyMemory, maxEach: c.AccountMemory, by: map[string]int64{}, bodies: map[*arrival]charge{}},
	}
	for class, p := range policies() {
		a.slots[class] = newSlots(c.Slots[class], p, c.Now)
	}
	return a
}

// SlotReport is the use of a class's slots.
type SlotReport struct{ Total, Used, Waiting int }

// Report returns the use of each class's slots and the bytes reserved for bodies.
func (a *Admission) Report() (slots map[Class]SlotReport, bodies int64) {
	slots = map[Class]SlotReport{}
	for class, s := range a.slots {
		s.mu.Lock()
		slots[class] = SlotReport{Total: s.total, Used: s.taken, Waiting: s.queued}
		s.mu.Unlock()
	}
	a.bodies.mu.Lock()
	defer a.bodies.mu.Unlock()
	return slots, a.bodies.used
}

// Receive counts a request against its account's quota and, unless it is an upload,
// reads its body. The next handler then reads the body from memory. If the body did
// not arrive whole, the handler reads the part that arrived and then gets the error.
// Requests must have passed Arrive.
func (a *Admission) Receive(costs Costs, fail FailFunc) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			account, class := costs(r)
			if a.slots[class] == nil {
				fail(w, r, fmt.Errorf("the operation has no cost class, got %q", class))
				return
			}
			quota, retry, ok := a.rates.take(account, class, a.config.Quota(account, QuotaOf(class)))
			announce(w.Header(), quota, retry)
			if !ok {
				a.refuse(w, r, class, fault.Exceeded(quota, retry, "the account has %d requests a second of class %s", quota.Limit, class), fail)
				return
			}
			switch body := arrivalOf(r); {
			case body == nil:
			case class == ClassUpload:
				body.allow(a.config.BodyTime, a.config.BodyRate)
			default:
				body.allow(a.config.BodyTime, 0)
				defer a.bodies.release(body)
				if err := a.readBody(r, account, body); err != nil {
					a.refuse(w, r, class, err, fail)
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}

// Serve takes a slot of the request's class and calls the next handler.
func (a *Admission) Serve(costs Costs, fail FailFunc) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			account, class := costs(r)
			limit := int64(math.MaxInt64)
			if class == ClassStream {
				limit = a.config.Quota(account, QuotaStreams)
			}
			var body *arrival
			if class == ClassUpload {
				body = arrivalOf(r)
			}
			leave, err := a.slots[class].enter(r.Context(), account, limit, body)
			if err != nil {
				a.refuse(w, r, class, err, fail)
				return
			}
			defer func() {
				if !leave() {
					a.config.Refused(class, fault.Unavailable)
				}
			}()
			next.ServeHTTP(w, r)
		})
	}
}

func (a *Admission) refuse(w http.ResponseWriter, r *http.Request, class Class, err error, fail FailFunc) {
	a.config.Refused(class, fault.CodeOf(err))
	fail(w, r, err)
}
