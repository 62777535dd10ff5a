/** A publishable key of the sandbox's first partner, for pages of loopback. */
export const sandboxPageKey = 'pk_sandbox'
