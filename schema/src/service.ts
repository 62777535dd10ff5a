import Type from 'typebox'

export const Live = Type.Object({ status: Type.String({ examples: ['ok'], description: 'Always `ok`.' }) })
export const Ready = Type.Object({ status: Type.String({ examples: ['ready'], description: 'Always `ready`.' }) })

const network = Type.String({ minLength: 1, maxLength: 64, description: 'Network ticker.', examples: ['eth'] })
const currency = Type.String({
  minLength: 1,
  maxLength: 64,
  description: "Ticker, or `native` for the network's native coin.",
  examples: ['native'],
})
const address = Type.String({ minLength: 1, maxLength: 256, description: 'An address on the network.' })

export const SandboxNetworks = Type.Array(
  Type.Object(
    {
      network: Type.String(),
      rpcUrl: Type.String(),
      chainId: Type.Optional(Type.Integer()),
      client: Type.String(),
    },
    { additionalProperties: true },
  ),
)
export const SandboxWalletBody = Type.Object({ network })
export const SandboxWallet = Type.Object({
  network: Type.String(),
  address: Type.String(),
  memo: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  privateKey: Type.String(),
})
export const SandboxDepositBody = Type.Object({
  network,
  currency,
  address,
  memo: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 256 })),
  amount: Type.String({ minLength: 1, maxLength: 80, description: 'Decimal amount.', examples: ['0.01'] }),
})
export const SandboxDeposit = Type.Object({ hash: Type.String() })
export const SandboxBalanceQuery = Type.Object({ network, currency, address })
export const SandboxBalance = Type.Object({ amount: Type.String() })
export const SandboxBlocksBody = Type.Object({
  network,
  count: Type.Integer({ minimum: 1, maximum: 1000, examples: [1] }),
})
export const SandboxReorgsBody = Type.Object({
  network,
  depth: Type.Integer({ minimum: 1, maximum: 50, examples: [2] }),
  drop: Type.Optional(
    Type.Boolean({ description: "Drops the bank's payments of the replaced blocks for good.", examples: [false] }),
  ),
})
/** The control server's JSON reply, passed through. */
export const SandboxReport = Type.Object({}, { additionalProperties: true })
