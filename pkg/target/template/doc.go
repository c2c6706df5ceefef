// Package template fills in the ${ } templates of Helm values. It is text/template with
// those of Sprig's functions whose results depend on nothing but their arguments, within
// limits: a template that loops, recurses or grows is stopped with an error. What it
// gives is the same at every look. No error quotes what a template was given.
package template
