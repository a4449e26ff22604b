package pager

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server has n pods. It rejects the continue token of one page: the page that begins at the pod
// whose number is in the field expired.
type server struct {
	n, expired int
	requests   []string
}

func (s *server) list(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
	s.requests = append(s.requests, fmt.Sprintf("%s/%s/%d", o.Continue, o.ResourceVersion, o.Limit))
	from, _ := strconv.Atoi(o.Continue)
	if from > 0 && from == s.expired {
		return nil, apierrors.NewResourceExpired("too old")
	}
	list := &v1.PodList{}
	list.ResourceVersion = "7"
	list.SetSelfLink("/pods")
	for i := from; i < s.n; i++ {
		if o.Limit > 0 && i == from+int(o.Limit) {
			list.Continue = strconv.Itoa(i)
			break
		}
		list.Items = append(list.Items, v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: strconv.Itoa(i)}})
	}
	return list, nil
}

// RC-8
func TestListReadsAllPages(t *testing.T) {
	s := &server{n: 5}
	p := New(s.list)
	p.PageSize = 2
	list, paged, err := p.List(t.Context(), metav1.ListOptions{ResourceVersion: "3"})
	require.NoError(t, err)
	require.True(t, paged)
	require.Equal(t, 5, meta.LenList(list))
	require.Equal(t, []string{"/3/2", "2//2", "4//2"}, s.requests)
	m, err := meta.ListAccessor(list)
	require.NoError(t, err)
	require.Equal(t, "7", m.GetResourceVersion())
	require.Equal(t, "/pods", m.GetSelfLink())

	s = &server{n: 5, expired: 4}
	p = New(s.list)
	p.PageSize = 2
	list, paged, err = p.ListWithAlloc(t.Context(), metav1.ListOptions{ResourceVersion: "3"})
	require.NoError(t, err)
	require.True(t, paged)
	require.IsType(t, &v1.PodList{}, list)
	require.Equal(t, 5, meta.LenList(list))
	require.Equal(t, []string{"/3/2", "2//2", "4//2", "/3/0"}, s.requests)

	p.FullListIfExpired = false
	_, _, err = p.List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsResourceExpired(err))
}

func TestListOfASinglePage(t *testing.T) {
	list, paged, err := New((&server{n: 5}).list).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.False(t, paged)
	require.IsType(t, &v1.PodList{}, list)
}

func TestEachItem(t *testing.T) {
	p := New((&server{n: 5}).list)
	p.PageSize = 2
	var names []string
	require.NoError(t, p.EachListItem(t.Context(), metav1.ListOptions{}, func(obj runtime.Object) error {
		names = append(names, obj.(*v1.Pod).Name)
		return nil
	}))
	require.Equal(t, []string{"0", "1", "2", "3", "4"}, names)
	stop := fmt.Errorf("enough")
	require.ErrorIs(t, p.EachListItem(t.Context(), metav1.ListOptions{}, func(runtime.Object) error { return stop }), stop)
}
