package conformance

import (
	"errors"
	"slices"
	"strings"
)

type storeCase = testCase[func() Store]

var storeCases = []storeCase{
	{"put stores and overwrites, and deleting what is absent is no error", func(p *caseT, open func() Store) {
		// IX-1
		s := open()
		p.succeeds(s.Delete(key("absent")))
		p.succeeds(s.Put(object("a@1")))
		p.succeeds(s.Put(object("a@2")))
		p.succeeds(s.Put(object("b@3")))
		p.equal("2", s.Get(key("a")).ResourceVersion, "version of a")
		p.succeeds(s.Delete(key("b")))
		p.equal([]string{"a"}, names(s.Keys()), "keys")
		p.must(s.Get(key("b")) == nil, "b is still there")
	}},
	{"readers get the stored pointer", func(p *caseT, open func() Store) { // IX-2, SI-32
		s, a := open(), object("a@1")
		p.succeeds(s.Put(a))
		p.must(s.Get(key("a")) == a, "Get returned a copy")
	}},
	{"a list of keys belongs to the caller", func(p *caseT, open func() Store) { // IX-2
		s := open()
		p.succeeds(s.Put(object("a@1")))
		s.Keys()[0].Name = "changed"
		p.equal([]string{"a"}, names(s.Keys()), "keys")
	}},
	{"an index follows its objects and forgets values", func(p *caseT, open func() Store) {
		// IX-3, IX-4
		s := open()
		p.succeeds(s.Put(object("a@1", "x", "y")))
		p.succeeds(s.Put(object("b@2", "x")))
		p.equal([]string{"a", "b"}, byIndex(p, s, "x"), "keys with x")
		p.succeeds(s.Put(object("a@3", "y", "z")))
		p.equal([]string{"b"}, byIndex(p, s, "x"), "keys with x")
		p.equal([]string{"a"}, byIndex(p, s, "z"), "keys with z")
		p.succeeds(s.Delete(key("b")))
		p.equal([]string{"y", "z"}, values(p, s), "values in use")
	}},
	{"an object may have no value, or one twice", func(p *caseT, open func() Store) { // IX-5
		s := open()
		p.succeeds(s.Put(object("a@1")))
		p.succeeds(s.Put(object("b@2", "x", "x")))
		p.equal([]string{"b"}, byIndex(p, s, "x"), "keys with x")
		p.succeeds(s.Put(object("b@3", "x")))
		p.succeeds(s.Delete(key("b")))
		p.equal([]string{}, values(p, s), "values in use")
	}},
	{"an index function that fails is an error and changes nothing", func(p *caseT, open func() Store) {
		// IX-6, D13
		s := open()
		p.succeeds(s.Put(object("a@1", "x")))
		bad := object("a@2", "y")
		bad.Err = errors.New("no value")
		p.must(errors.Is(s.Put(bad), bad.Err), "the error is not returned")
		p.equal("1", s.Get(key("a")).ResourceVersion, "version of a")
		p.equal([]string{"a"}, byIndex(p, s, "x"), "keys with x")
	}},
	{"an unknown index is an error that names it, an unknown value is not", func(p *caseT, open func() Store) {
		// IX-8
		s := open()
		_, err := s.ByIndex("unknown", "x")
		p.must(err != nil && strings.Contains(err.Error(), "unknown"), "error: %v", err)
		p.equal([]string{}, byIndex(p, s, "x"), "keys with x")
	}},
	{"the values of an unknown index are an error", func(p *caseT, open func() Store) { // IX-10
		_, err := open().IndexValues("unknown")
		p.must(err != nil, "no error was returned")
	}},
	{"an index that is added has what is stored", func(p *caseT, open func() Store) { // IX-11
		s := open()
		p.succeeds(s.Put(object("a@1")))
		p.succeeds(s.AddIndex("name", func(o *Object) ([]string, error) { return []string{o.Name}, nil }))
		keys, err := s.ByIndex("name", "a")
		p.succeeds(err)
		p.equal([]string{"a"}, names(keys), "named a")
	}},
	{"an index whose name is taken is an error and changes nothing", func(p *caseT, open func() Store) {
		// IX-11
		s := open()
		p.succeeds(s.Put(object("a@1", "x")))
		p.must(s.AddIndex(IndexName, func(*Object) ([]string, error) { return []string{"other"}, nil }) != nil, "no error was returned")
		p.equal([]string{"x"}, values(p, s), "values in use")
	}},
	{"replace swaps the content, and the last of two counts", func(p *caseT, open func() Store) {
		// IX-13
		s := open()
		p.succeeds(s.Put(object("a@1", "x")))
		p.succeeds(s.Put(object("b@2", "x")))
		p.succeeds(s.Replace([]*Object{object("b@3", "y"), object("c@4", "x"), object("c@5", "z")}, "9"))
		p.equal([]string{"b", "c"}, names(s.Keys()), "keys")
		p.equal("5", s.Get(key("c")).ResourceVersion, "version of c")
		p.equal([]string{"y", "z"}, values(p, s), "values in use")
	}},
	{"the version is that of the replace", func(p *caseT, open func() Store) { // IX-16
		s := open()
		p.succeeds(s.Replace(objects("a@1", "b@2"), "9"))
		p.equal("9", s.ResourceVersion(), "version")
	}},
	{"the version never goes down", func(p *caseT, open func() Store) { // IX-16, D15
		s := open()
		p.succeeds(s.Replace(objects("a@1"), "9"))
		p.succeeds(s.Put(object("b@10")))
		p.equal("10", s.ResourceVersion(), "version")
		p.succeeds(s.Put(object("a@8")))
		p.equal("10", s.ResourceVersion(), "version after an older object")
	}},
	{"an object that is changed in place leaves no trace in the index", func(p *caseT, open func() Store) {
		// IX-3, SI-32, D14
		s, a := open(), object("a@1", "x")
		p.succeeds(s.Put(a))
		a.Values = []string{"y"}
		p.succeeds(s.Put(object("a@2", "z")))
		p.equal([]string{"z"}, values(p, s), "values in use")
		p.equal([]string{}, byIndex(p, s, "x"), "keys with x")
	}},
}

func byIndex(p *caseT, s Store, value string) []string {
	keys, err := s.ByIndex(IndexName, value)
	p.succeeds(err)
	return names(keys)
}

func values(p *caseT, s Store) []string {
	all, err := s.IndexValues(IndexName)
	p.succeeds(err)
	slices.Sort(all)
	return all
}
