package wire

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kinform/kinform/apitest/internal/storage"
	"github.com/kinform/kinform/apitest/internal/tables"
)

// columnsOf returns the columns of the resource.
func columnsOf(r *storage.Resource) tables.Columns {
	if r.GoType != nil {
		return tables.Builtin(r.GoType)
	}
	return tables.Custom(r.GVK.GroupKind(), r.CRDVersion.AdditionalPrinterColumns)
}

// The forms in which a row can include its object, besides the cells.
const (
	includeNone   = "None"
	includeObject = "Object"
)

// rows returns objects of a resource as a Table.
func (f Format) rows(res *storage.Resource, meta metav1.ListMeta, revs ...*storage.Revision) metav1.Table {
	as := columnsOf(res)
	table := metav1.Table{
		TypeMeta: metav1.TypeMeta{Kind: "Table", APIVersion: metav1.SchemeGroupVersion.String()},
		ListMeta: meta,
		Rows:     make([]metav1.TableRow, 0, len(revs)),
	}
	if !f.NoHeadings {
		table.ColumnDefinitions = as.Headings
	}
	for _, rev := range revs {
		row := metav1.TableRow{Cells: as.Cells(rev.Object())}
		switch f.Include {
		case includeNone:
		case includeObject:
			row.Object = runtime.RawExtension{Raw: Format{}.AppendObject(nil, rev)}
		default:
			row.Object = runtime.RawExtension{Raw: rev.MetadataJSON()}
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// tableOf returns one object as a Table.
func (f Format) tableOf(rev *storage.Revision) metav1.Table {
	return f.rows(rev.Res, metav1.ListMeta{ResourceVersion: rev.ResourceVersion()}, rev)
}
