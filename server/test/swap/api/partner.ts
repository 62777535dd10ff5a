import { type Chain, createPublicClient, type Hex, http, parseAbi, parseTransaction } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { startScenarioAloneOn } from '../../../../test/support/market-lock.ts'
import type { Answer, Json, Scenario, ScenarioOptions } from '../../../../test/support/scenario.ts'

export { LOCK_MS } from '../../../../test/support/market-lock.ts'

export const NATIVE = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'
export const erc20 = parseAbi([
  'function balanceOf(address) view returns (uint256)',
  'function allowance(address, address) view returns (uint256)',
  'function approve(address, uint256) returns (bool)',
  'function transfer(address, uint256) returns (bool)',
])

/** A partner and its users on one network. Calls the API and signs with viem. */
export type Stage = Readonly<{
  scenario: Scenario
  network: string
  client: ReturnType<typeof createPublicClient>
  chainId: number
  /** By symbol, from chains.json. */
  token(symbol: string): Hex
  wrapped: Hex
  router: Hex
  rpc<T>(method: string, ...params: readonly unknown[]): Promise<T>
  /** A new account with 50 native units and the given tokens. */
  user(tokens?: Readonly<Record<string, string>>): Promise<PrivateKeyAccount>
  quote(request: Readonly<Record<string, string>>): Promise<Answer>
  build(request: Readonly<Record<string, unknown>>): Promise<Answer>
  balance(token: string, owner: string): Promise<bigint>
  list(query?: string, headers?: Record<string, string>): Promise<Json>
  /** The swaps of this network. */
  rows(): Promise<Json[]>
  send(body: object, headers?: Record<string, string>): Promise<Answer>
  approve(rawApproveTx: string, headers?: Record<string, string>): Promise<Answer>
  /** Waits until the swap of a hash has the status. */
  becomes(hash: string, status: string, timeoutMs?: number): Promise<Json>
}>

export async function startStage(network = 'eth', options: Partial<ScenarioOptions> = {}): Promise<Stage> {
  const networks = [network, ...(options.networks ?? [])]
  return stageOn(await startScenarioAloneOn(network, { networks, swaps: {}, ...options }), network)
}

export async function stageOn(scenario: Scenario, network: string): Promise<Stage> {
  const deployed = scenario.chains.networks.find((one) => one.network === network)
  if (deployed?.chainId === undefined) throw new Error(`no chain ${network}`)
  const url = deployed.rpcUrls[0] ?? ''
  const chain: Chain = {
    id: deployed.chainId,
    name: network,
    nativeCurrency: { name: 'native', symbol: 'NATIVE', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  }
  const client = createPublicClient({ chain, transport: http(url), pollingInterval: 100 })
  const defi = deployed.defiTokens ?? []
  const bySymbol = new Map(defi.map(({ symbol, address }) => [symbol.toLowerCase(), address as Hex]))
  for (const [ticker, address] of Object.entries(deployed.tokens)) bySymbol.set(ticker, address as Hex)
  const token = (symbol: string): Hex => {
    const address = bySymbol.get(symbol.toLowerCase())
    if (address === undefined) throw new Error(`no token ${symbol} on ${network}`)
    return address
  }
  const balance = async (address: string, owner: string): Promise<bigint> =>
    address === NATIVE
      ? client.getBalance({ address: owner as Hex })
      : client.readContract({ address: address as Hex, abi: erc20, functionName: 'balanceOf', args: [owner as Hex] })
  const list = async (query = '', headers: Record<string, string> = {}): Promise<Json> =>
    (await scenario.call('GET', `/v1/defi/exchange/list${query}`, undefined, headers)).body
  const rows = async (): Promise<Json[]> => (await list(`?network=${network}`)).exchanges
  await scenario.until(`pools of ${network}`, async () => {
    const { status } = await scenario.call(
      'GET',
      `/v1/defi/quote?${new URLSearchParams({ network, fromTokenAddress: NATIVE, toTokenAddress: token('usdc'), amount: '0.01', slippage: '1', referrerFee: '0' })}`,
    )
    return status === 200
  })
  return {
    scenario,
    network,
    client,
    chainId: deployed.chainId,
    token,
    wrapped: deployed.wrapped as Hex,
    router: deployed.contracts?.['swapRouter'] as Hex,
    rpc: (method, ...params) => client.request({ method, params } as never),
    async user(tokens = {}) {
      const account = privateKeyToAccount(generatePrivateKey())
      for (const [currency, amount] of Object.entries({ native: '50', ...tokens }))
        await scenario.control('/deposits', { network, currency, address: account.address, amount })
      await scenario.mine(network, 1)
      return account
    },
    quote: (request) => scenario.call('GET', `/v1/defi/quote?${new URLSearchParams({ network, ...request })}`),
    build: (request) => scenario.call('POST', '/v1/defi/transaction/swap', { network, ...request }),
    balance,
    list,
    rows,
    send: (body, headers) => scenario.call('POST', '/v1/defi/send/swap', body, headers),
    approve: (rawApproveTx, headers) =>
      scenario.call('POST', '/v1/defi/send/approve', { network, rawApproveTx }, headers),
    becomes: (hash, status, timeoutMs) =>
      scenario.until(
        `${hash} is ${status}`,
        async () => {
          const row = (await rows()).find((one: Json) => one.hash === hash)
          return row?.status === status ? row : null
        },
        timeoutMs,
      ),
  }
}

/** Signs as a partner does: viem parses the unsigned transaction and signs it. */
export async function sign(account: PrivateKeyAccount, unsigned: string, changes: object = {}): Promise<Hex> {
  const transaction = { ...parseTransaction(unsigned as Hex), ...changes }
  return account.signTransaction(transaction as Parameters<PrivateKeyAccount['signTransaction']>[0])
}

export type Trade = Readonly<{
  fromTokenAddress: string
  toTokenAddress: string
  amount: string
  slippage: string
  referrerFee: string
}>

/** The body of a send request, without the transaction. */
export const sendBodyOf = (stage: Stage, account: PrivateKeyAccount, trade: Trade, amountTo: string) => ({
  account: account.address,
  network: stage.network,
  fromTokenAddress: trade.fromTokenAddress,
  toTokenAddress: trade.toTokenAddress,
  amountFrom: trade.amount,
  amountTo,
  commissionPercentage: trade.referrerFee,
})

/** Quotes, builds, signs, approves and sends a swap. */
export async function trade(stage: Stage, account: PrivateKeyAccount, request: Trade) {
  const quoted = await stage.quote(request)
  if (quoted.status !== 200) throw new Error(JSON.stringify(quoted.body))
  const built = await stage.build({ ...request, account: account.address })
  if (built.status !== 201) throw new Error(JSON.stringify(built.body))
  const raws: string[] = built.body
  const rawApproveTx = raws.length === 2 ? await sign(account, raws[0] ?? '') : null
  if (rawApproveTx !== null) {
    const approved = await stage.approve(rawApproveTx)
    if (approved.status !== 201) throw new Error(JSON.stringify(approved.body))
  }
  const rawTx = await sign(account, raws.at(-1) ?? '')
  const body = { ...sendBodyOf(stage, account, request, quoted.body.receivedAmount), rawTx }
  const sent = await stage.send(body)
  if (sent.status !== 201) throw new Error(JSON.stringify(sent.body))
  return { quote: quoted.body as Json, raws, rawApproveTx, rawTx, body, hash: JSON.parse(sent.body) as string }
}
