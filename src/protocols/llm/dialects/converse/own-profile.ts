/** Whether an account has given the model a name of its own, which hides what model it is. */
export function isOwnProfile(model: string): boolean {
  return model.includes(':application-inference-profile/')
}
