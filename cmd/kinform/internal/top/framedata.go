package top

import (
	"reflect"

	"github.com/kinform/kinform/view"
)

// frameData is a frame together with its hello line and the selected queue.
type frameData struct {
	hello *view.Hello
	frame *view.Frame

	// queue is the name of the shown queue. boxes are the boxes of the informer and of that queue.
	queue  string
	queues []string
	boxes  map[string]*view.Box
}

// newFrameData selects a queue of a frame, and the boxes that belong to it. It takes the wanted
// queue, else the queue with the pipeline's name, else the first queue.
func newFrameData(hello *view.Hello, frame *view.Frame, wanted string) *frameData {
	s := &frameData{hello: hello, frame: frame, boxes: map[string]*view.Box{}}
	for n := range frame.Boxes {
		if frame.Boxes[n].ID == "queue" {
			s.queues = append(s.queues, frame.Boxes[n].Name)
		}
	}
	for _, choice := range []string{wanted, hello.Name} {
		for _, name := range s.queues {
			if s.queue == "" && name == choice {
				s.queue = name
			}
		}
	}
	if s.queue == "" && len(s.queues) > 0 {
		s.queue = s.queues[0]
	}
	for n := range frame.Boxes {
		b := &frame.Boxes[n]
		if b.ID != "queue" && b.ID != "workers" || b.Name == s.queue {
			s.boxes[b.ID] = b
		}
	}
	return s
}

// keys returns the keys of the queue.
func (s *frameData) keys() view.Keys { return s.frame.Keys[s.queue] }

// at(e) returns the time of an event in milliseconds, on the same clock as Frame.At.
func (s *frameData) at(e *view.Event) float64 { return s.frame.At + e.At }

// sanitize makes all texts safe in the value to which its argument points. It covers struct fields,
// map keys and map values. It uses reflection, so it also covers fields of later formats.
func sanitize(pointer any) { sanitizeValue(reflect.ValueOf(pointer)) }

func sanitizeValue(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			sanitizeValue(v.Elem())
		}
	case reflect.Struct:
		for n := range v.NumField() {
			sanitizeValue(v.Field(n))
		}
	case reflect.Slice:
		switch v.Type().Elem().Kind() {
		case reflect.Float64, reflect.Uint8:
			return
		}
		for n := range v.Len() {
			sanitizeValue(v.Index(n))
		}
	case reflect.Map:
		sanitizeMap(v)
	case reflect.String:
		if s := v.String(); safe(s) != s {
			v.SetString(safe(s))
		}
	}
}

func sanitizeMap(m reflect.Value) {
	for _, key := range m.MapKeys() {
		value := reflect.New(m.Type().Elem()).Elem()
		value.Set(m.MapIndex(key))
		if m.Type().Elem().Kind() != reflect.Float64 {
			sanitizeValue(value)
		}
		tamed := reflect.New(key.Type()).Elem()
		tamed.Set(key)
		sanitizeValue(tamed)
		m.SetMapIndex(key, reflect.Value{})
		m.SetMapIndex(tamed, value)
	}
}
