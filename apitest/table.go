package apitest

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kinform/kinform/apitest/internal/tables"
)

// columns returns the columns of the resource.
func (r *resource) columns() tables.Columns {
	switch {
	case r.goType != nil:
		return tables.Builtin(r.goType)
	case r.gvk == crdKind:
		return tables.Definitions()
	case r.Group == apiServices.Group && r.Plural == apiServices.Plural:
		return tables.APIServices()
	}
	return tables.Declared(r.crdVersion.AdditionalPrinterColumns)
}

// The forms in which a row can include its object, besides the cells.
const (
	includeNone   = "None"
	includeObject = "Object"
)

// rows returns objects of a resource as a Table.
func (f format) rows(res *resource, meta metav1.ListMeta, revs ...*revision) metav1.Table {
	as := res.columns()
	table := metav1.Table{
		TypeMeta: metav1.TypeMeta{Kind: "Table", APIVersion: metav1.SchemeGroupVersion.String()},
		ListMeta: meta,
		Rows:     make([]metav1.TableRow, 0, len(revs)),
	}
	if !f.noHeadings {
		table.ColumnDefinitions = as.Headings
	}
	for _, rev := range revs {
		row := metav1.TableRow{Cells: as.Cells(rev.object())}
		switch f.include {
		case includeNone:
		case includeObject:
			row.Object = runtime.RawExtension{Raw: format{}.appendObject(nil, rev)}
		default:
			row.Object = runtime.RawExtension{Raw: rev.metadataJSON()}
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// tableOf returns one object as a Table.
func (f format) tableOf(rev *revision) metav1.Table {
	return f.rows(rev.res, metav1.ListMeta{ResourceVersion: rev.resourceVersion()}, rev)
}
