import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/*
 * 0x (Swap API v2), OpenOcean (API v4) and KyberSwap (aggregator API v1) on one socket, as their documentation has them:
 * each with its own names, headers, amounts in base units as text, and refusals. None has prices of its own.
 */

export type AggregatorName = '0x' | 'openocean' | 'kyberswap'
/** What a transaction of theirs says; absent = it answers no build. */
export type Call = Readonly<{ target: string; spender?: string; value?: bigint; calldata: string }>
type Order = Readonly<{ tokenIn: string; tokenOut: string; amountIn: string; taker: string }>
/** What it does when it is asked for a transaction: as told, or as it is said to behave. */
type Building = (order: Order) => Call | Failing
/** `hang`: the connection stays open, and nothing comes. */
export type Behaviour = Readonly<{ pays: bigint; builds?: Building }> | Failing
type Failing = 'no-route' | 'fails' | 'hangs' | 'hangs-half-way' | 'nonsense'

export type FakeAggregators = Readonly<{
  url: string
  key: string
  behave(behaviour: Partial<Record<AggregatorName, Behaviour>>): void
  /** Whom was asked since the last call. */
  asked(): readonly AggregatorName[]
  /** Connections that are open now. */
  open(): Promise<number>
  stop(): Promise<void>
}>

const KEY = 'a key of 0x'
const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const UNITS = /^[1-9][0-9]*$/

type Asked = Readonly<{
  router: AggregatorName
  tokenIn: string
  tokenOut: string
  amountIn: string
  fault: Fault | null
  /** Who trades, where a transaction is asked for. */
  taker?: string
}>
type Fault = Readonly<{ status: number; body: object }>

/** 0x's: 401 without a key, 400 with the first thing that is wrong. */
function askedOfZeroX({ headers }: IncomingMessage, query: URLSearchParams): Asked {
  const [tokenIn, tokenOut, amountIn] = ['sellToken', 'buyToken', 'sellAmount'].map((name) => query.get(name) ?? '')
  const invalid = (reason: string): Fault => ({
    status: 400,
    body: { name: 'INPUT_INVALID', message: 'The input is invalid', data: { details: [{ field: '', reason }] } },
  })
  const unauthorized = { status: 401, body: { name: 'UNAUTHORIZED', message: 'No Authorization' } }
  const isRight = headers['0x-version'] === 'v2' && query.get('chainId') === '3133700001'
  const fault = headers['0x-api-key'] !== KEY ? unauthorized : isRight ? null : invalid('version or chain')
  const taker = query.get('taker')
  return checked(
    { router: '0x', tokenIn, tokenOut, amountIn, fault, ...(taker === null ? {} : { taker }) },
    invalid('token or amount'),
  )
}

function askedOfOpenOcean(query: URLSearchParams): Asked {
  const names = ['inTokenAddress', 'outTokenAddress', 'amountDecimals'] as const
  const [tokenIn, tokenOut, amountIn] = names.map((name) => query.get(name) ?? '')
  const invalid = { status: 200, body: { code: 400, error: 'params error' } }
  const fault = UNITS.test(query.get('gasPriceDecimals') ?? '') ? null : invalid
  const account = query.get('account')
  const taker = account === null ? {} : { taker: account }
  return checked({ router: 'openocean', tokenIn, tokenOut, amountIn, fault, ...taker }, invalid)
}

function askedOfKyberSwap({ headers }: IncomingMessage, query: URLSearchParams): Asked {
  const [tokenIn, tokenOut, amountIn] = ['tokenIn', 'tokenOut', 'amountIn'].map((name) => query.get(name) ?? '')
  const body = { code: 4000, message: 'bad request', details: [{ fieldViolations: [] }] }
  const fault = headers['x-client-id'] === undefined ? { status: 400, body } : null
  return checked({ router: 'kyberswap', tokenIn, tokenOut, amountIn, fault }, { status: 400, body })
}

type Loose = Omit<Asked, 'tokenIn' | 'tokenOut' | 'amountIn'> &
  Record<'tokenIn' | 'tokenOut' | 'amountIn', string | undefined>

function checked({ tokenIn = '', tokenOut = '', amountIn = '', ...rest }: Loose, invalid: Fault): Asked {
  const isRight = ADDRESS.test(tokenIn) && ADDRESS.test(tokenOut) && UNITS.test(amountIn)
  return { ...rest, tokenIn, tokenOut, amountIn, fault: rest.fault ?? (isRight ? null : invalid) }
}

/** KyberSwap builds what it routed before: the summary comes back with who trades. */
async function askedToBuild(request: IncomingMessage): Promise<Asked> {
  const fault = { status: 400, body: { code: 4002, message: 'request body is malformed' } }
  const { routeSummary, sender, recipient } = JSON.parse(await text(request))
  const { tokenIn, tokenOut, amountIn } = routeSummary ?? {}
  const isRight = request.method === 'POST' && ADDRESS.test(sender) && sender === recipient
  const [from, to] = [tokenIn, tokenOut].map((address) => `0x${String(address).slice(2).toLowerCase()}`)
  return checked(
    {
      router: 'kyberswap',
      ...{ tokenIn: from, tokenOut: to, amountIn, taker: sender },
      fault: isRight ? null : fault,
    },
    fault,
  )
}

async function read(request: IncomingMessage): Promise<Asked | null> {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://routers')
  if (pathname === '/swap/allowance-holder/price') return askedOfZeroX(request, searchParams)
  if (pathname === '/swap/allowance-holder/quote') return askedOfZeroX(request, searchParams)
  if (pathname === '/v4/eth/quote' || pathname === '/v4/eth/swap') return askedOfOpenOcean(searchParams)
  if (pathname === '/ethereum/api/v1/route/build') return askedToBuild(request)
  return pathname === '/ethereum/api/v1/routes' ? askedOfKyberSwap(request, searchParams) : null
}

/** What each adds to its offer, or answers in its place, where it is asked for a transaction. */
function transaction({ router, amountIn }: Asked, units: bigint, call: Call, told: object): object {
  const { target, spender = target, value = 0n, calldata } = call
  if (router === '0x') {
    const issues = { allowance: { actual: '0', spender }, balance: null, simulationIncomplete: true }
    const fees = { gas: '189000', gasPrice: '1000000000' }
    return { ...told, issues, transaction: { to: target, data: calldata, value: value.toString(), ...fees } }
  }
  if (router === 'openocean') {
    const { data } = told as { data: object }
    return { code: 200, data: { ...data, to: target, data: calldata, value: value.toString(), gasPrice: '1000000000' } }
  }
  const amounts = { amountIn, amountOut: units.toString(), gas: '189000' }
  const built = { ...amounts, data: calldata, routerAddress: target, transactionValue: value.toString() }
  return { code: 0, message: 'successfully', data: built }
}

/** As 0x, OpenOcean and KyberSwap tell an offer. Two of the three answer addresses with capitals. */
function offer({ router, tokenIn, tokenOut, amountIn }: Asked, units: bigint): object {
  const amountOut = units.toString()
  const spelled = (address: string) => `0x${address.slice(2).toUpperCase()}`
  if (router === '0x')
    return {
      ...{
        blockNumber: '23000000',
        buyAmount: amountOut,
        buyToken: tokenOut,
        sellAmount: amountIn,
        sellToken: tokenIn,
      },
      ...{ liquidityAvailable: true, minBuyAmount: amountOut, totalNetworkFee: '1200000000000000' },
      fees: { integratorFee: null, zeroExFee: null, gasFee: null },
    }
  if (router === 'openocean') {
    const [inToken, outToken] = [tokenIn, tokenOut].map((address) => ({ address: spelled(address), decimals: 18 }))
    return { code: 200, data: { inToken, outToken, inAmount: amountIn, outAmount: amountOut, estimatedGas: '189669' } }
  }
  const sides = { tokenIn: spelled(tokenIn), amountIn, tokenOut: spelled(tokenOut), amountOut }
  return { code: 0, message: 'successfully', data: { routeSummary: { ...sides, gas: '189000', route: [[]] } } }
}

const noRoute: Readonly<Record<AggregatorName, Fault>> = {
  '0x': { status: 200, body: { liquidityAvailable: false, zid: '0x111111111111111111111111' } },
  openocean: { status: 200, body: { code: 204, error: 'Insufficient liquidity' } },
  kyberswap: { status: 400, body: { code: 4008, message: 'route not found', requestId: 'a' } },
}

export async function startFakeAggregators(): Promise<FakeAggregators> {
  let behaviours: Partial<Record<AggregatorName, Behaviour>> = {}
  let asked: AggregatorName[] = []
  const server = createServer(async (request, reply) => {
    const question = await read(request)
    if (question === null) return void send(reply, { status: 404, body: {} })
    asked.push(question.router)
    answer(reply, question, behaviours[question.router] ?? 'no-route')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    key: KEY,
    behave: (chosen) => {
      behaviours = chosen
    },
    asked: () => {
      const before = asked
      asked = []
      return before
    },
    open: () => new Promise((done) => server.getConnections((_error, count) => done(count))),
    stop: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

function answer(reply: ServerResponse, question: Asked, behaviour: Behaviour): void {
  if (question.fault !== null) send(reply, question.fault)
  else if (behaviour === 'hangs') return
  else if (behaviour === 'hangs-half-way')
    reply.writeHead(200, { 'content-type': 'application/json' }).write('{"code":')
  else if (behaviour === 'nonsense') reply.writeHead(200).end('<html>maintenance</html>')
  else if (behaviour === 'fails') send(reply, { status: 503, body: { message: 'unavailable' } })
  else if (behaviour === 'no-route') send(reply, noRoute[question.router])
  else if (question.taker === undefined) send(reply, { status: 200, body: offer(question, behaviour.pays) })
  else {
    const { tokenIn, tokenOut, amountIn, taker } = question
    const built = behaviour.builds?.({ tokenIn, tokenOut, amountIn, taker }) ?? 'no-route'
    if (typeof built === 'string') answer(reply, question, built)
    else
      send(reply, { status: 200, body: transaction(question, behaviour.pays, built, offer(question, behaviour.pays)) })
  }
}

function send(reply: ServerResponse, { status, body }: Fault): void {
  reply.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
