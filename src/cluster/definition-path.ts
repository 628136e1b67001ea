/** The path of a CustomResourceDefinition. @param name `httproutes.gateway.networking.k8s.io` */
export function definitionPath(name: string): string {
  return `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`
}
