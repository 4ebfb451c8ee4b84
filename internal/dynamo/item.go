package dynamo

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"cloche/internal/metrics"
)

type item = map[string]types.AttributeValue

// counterPrefix tells counters from the item's other attributes.
const counterPrefix = "n_"

const (
	eventPrefix  = "event#"
	totalSort    = "total"
	minutePrefix = "minute#" // sorts before totalSort: one query reads both
)

// grace is how much longer than EventAge an event's key stays, so that no
// repeat which is still let in can find the key gone.
const grace = time.Hour

// record is an event as it lies in the table.
type record struct {
	PK       string        `dynamodbav:"pk"`
	SK       string        `dynamodbav:"sk"`
	AllPK    string        `dynamodbav:"all_pk"`
	TenantPK string        `dynamodbav:"tenant_pk"`
	At       string        `dynamodbav:"at"`
	Expires  int64         `dynamodbav:"expires"` // Unix seconds
	Event    metrics.Event `dynamodbav:"event"`   // by its JSON names
}

func (s *Store) record(e metrics.Event) (item, error) {
	n := s.shard(e.ID)
	return attributevalue.MarshalMapWithOptions(record{
		PK:       eventPrefix + e.ID,
		SK:       eventName,
		AllPK:    partition(n, metrics.Everyone),
		TenantPK: partition(n, e.Tenant),
		At:       sortKey(metrics.PositionOf(e)),
		Expires:  e.Time.Add(s.options.EventAge + grace).Unix(),
		Event:    e,
	}, func(o *attributevalue.EncoderOptions) { o.TagKey = "json" })
}

func eventOf(i item) (metrics.Event, error) {
	var r record
	err := attributevalue.UnmarshalMapWithOptions(i, &r, func(o *attributevalue.DecoderOptions) { o.TagKey = "json" })
	if err != nil {
		return metrics.Event{}, fmt.Errorf("read event: %w", err)
	}
	r.Event.Time = r.Event.Time.UTC()
	return r.Event, nil
}

func countersOf(i item) (metrics.Counters, error) {
	c := metrics.Counters{}
	for attribute, value := range i {
		name, ok := strings.CutPrefix(attribute, counterPrefix)
		if !ok {
			continue
		}
		var n int64
		if err := attributevalue.Unmarshal(value, &n); err != nil {
			return nil, fmt.Errorf("read counter %s: %w", name, err)
		}
		c[name] = n
	}
	return c, nil
}

// shard spreads events evenly, and the same event always to the same place.
func (s *Store) shard(id string) int {
	h := fnv.New64a()
	h.Write([]byte(id)) // never fails
	return int(h.Sum64() % uint64(s.options.Shards))
}

// partition is the key of a scope's shard. No tenant's equals everyone's.
func partition(shard int, scope string) string {
	if scope == metrics.Everyone {
		return strconv.Itoa(shard) + "#all"
	}
	return strconv.Itoa(shard) + "#tenant#" + scope
}

// sortKey orders as metrics.Position does, oldest first.
func sortKey(p metrics.Position) string { return fmt.Sprintf("%019d#%s", p.Millis, p.ID) }

func minuteSort(t time.Time) string { return fmt.Sprintf("%s%012d", minutePrefix, t.Unix()) }

func minuteOf(sort string) (int64, error) {
	return strconv.ParseInt(strings.TrimPrefix(sort, minutePrefix), 10, 64)
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func key(pk, sk string) item { return item{pkName: text(pk), skName: text(sk)} }

// addition is an update expression that adds counters. Every name is a
// placeholder, since many of them are reserved words.
func addition(c metrics.Counters) (expression string, names map[string]string, values item) {
	names, values = map[string]string{}, item{}
	var terms []string
	for i, name := range slices.Sorted(maps.Keys(c)) {
		n, v := fmt.Sprintf("#c%d", i), fmt.Sprintf(":c%d", i)
		names[n], values[v] = counterPrefix+name, number(c[name])
		terms = append(terms, n+" "+v)
	}
	return "ADD " + strings.Join(terms, ", "), names, values
}
