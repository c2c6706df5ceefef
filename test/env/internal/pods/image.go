package pods

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// ourImage is the name of the image whose pods run as processes.
const ourImage = "fleet-addon"

// imageName is the name of an image without registry, tag and digest.
func imageName(image string) string {
	image, _, _ = strings.Cut(image, "@")
	name := image[strings.LastIndexByte(image, '/')+1:]
	name, _, _ = strings.Cut(name, ":")
	return name
}

func ours(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return imageName(c.Image) == ourImage })
}
