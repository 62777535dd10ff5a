/** The operator of the sandbox, who needs no second factor. The sandbox listens on loopback only. */
export const sandboxOperator = { login: 'admin', password: 'sandbox-operator' } as const
