// Package controller has the project's reconciler.
package controller

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	webv1 "github.com/kinform/kinform/e2e/project/api/v1"
)

// Finalizer keeps each website until its gravestone is written.
const Finalizer = "web.e2e.kinform/gravestone"

// WebsiteReconciler gives each website a deployment, and writes a config map when the website is
// deleted.
type WebsiteReconciler struct {
	client.Client
	Scheme   *runtime.Scheme
	Recorder events.EventRecorder
}

// SetupWithManager adds the reconciler to a manager.
func (r *WebsiteReconciler) SetupWithManager(mgr ctrl.Manager) error {
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &webv1.Website{}, "spec.image", func(o client.Object) []string {
		return []string{o.(*webv1.Website).Spec.Image}
	}); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).For(&webv1.Website{}).Owns(&appsv1.Deployment{}).Complete(r)
}

// Reconcile implements reconcile.Reconciler.
func (r *WebsiteReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var site webv1.Website
	if err := r.Get(ctx, req.NamespacedName, &site); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !site.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.writeGravestone(ctx, &site)
	}
	if controllerutil.AddFinalizer(&site, Finalizer) {
		if err := r.Update(ctx, &site); err != nil {
			return ctrl.Result{}, err
		}
	}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: site.Namespace, Name: site.Name}}
	result, err := controllerutil.CreateOrUpdate(ctx, r.Client, deployment, func() error {
		labels := map[string]string{"website": site.Name}
		deployment.Spec.Replicas = ptr.To(site.Spec.Replicas)
		deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		deployment.Spec.Template.Labels = labels
		if len(deployment.Spec.Template.Spec.Containers) == 0 {
			deployment.Spec.Template.Spec.Containers = []corev1.Container{{Name: "web"}}
		}
		deployment.Spec.Template.Spec.Containers[0].Image = site.Spec.Image
		return controllerutil.SetControllerReference(&site, deployment, r.Scheme)
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	if result != controllerutil.OperationResultNone {
		r.Recorder.Eventf(&site, deployment, corev1.EventTypeNormal, "Deployed", "Deploy", "The deployment was %s", result)
	}
	var alike webv1.WebsiteList
	if err := r.List(ctx, &alike, client.InNamespace(site.Namespace), client.MatchingFields{"spec.image": site.Spec.Image}); err != nil {
		return ctrl.Result{}, err
	}
	before := site.DeepCopyObject().(*webv1.Website)
	site.Status.ObservedGeneration = site.Generation
	meta.SetStatusCondition(&site.Status.Conditions, metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Deployed",
		Message: fmt.Sprintf("runs %s", site.Spec.Image), ObservedGeneration: site.Generation})
	return ctrl.Result{}, r.Status().Patch(ctx, &site, client.MergeFrom(before))
}

// writeGravestone writes the gravestone of a website, and removes the finalizer.
func (r *WebsiteReconciler) writeGravestone(ctx context.Context, site *webv1.Website) error {
	grave := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: site.Namespace, Name: site.Name + "-was-here"}, Data: map[string]string{"image": site.Spec.Image}}
	if err := r.Create(ctx, grave); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	// Normally the garbage collector deletes the deployment. No garbage collector runs here, so the
	// controller does it.
	deployment := &appsv1.Deployment{}
	if err := r.Get(ctx, types.NamespacedName{Namespace: site.Namespace, Name: site.Name}, deployment); err == nil {
		if err := r.Delete(ctx, deployment); client.IgnoreNotFound(err) != nil {
			return err
		}
	} else if !apierrors.IsNotFound(err) {
		return err
	}
	if controllerutil.RemoveFinalizer(site, Finalizer) {
		return client.IgnoreNotFound(r.Update(ctx, site))
	}
	return nil
}
