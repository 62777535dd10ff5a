import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/*
 * 0x (Swap API v2), OpenOcean (API v4) and KyberSwap (aggregator API v1) on one port, according to their documentation: each
 * with its own names, headers and refusals. Amounts are base units as text. The test sets the prices.
 */

export type AggregatorName = '0x' | 'openocean' | 'kyberswap'
/** The transaction that an aggregator builds. */
export type Call = Readonly<{ target: string; spender?: string; value?: bigint; calldata: string }>
type Order = Readonly<{ tokenIn: string; tokenOut: string; amountIn: string; taker: string }>
/** The reply to a build request: a call or a failure. */
type BuildCall = (order: Order) => Call | Failing
/** `hangs`: the connection stays open without a reply. Without `builds`, a build request has no route. */
export type Behaviour = Readonly<{ pays: bigint; builds?: BuildCall }> | Failing
type Failing = 'no-route' | 'fails' | 'hangs' | 'hangs-half-way' | 'nonsense'

export type FakeAggregators = Readonly<{
  url: string
  key: string
  behave(behaviour: Partial<Record<AggregatorName, Behaviour>>): void
  /** The aggregators that got requests since the last call. */
  takeRequests(): readonly AggregatorName[]
  /** Number of open connections. */
  countConnections(): Promise<number>
  stop(): Promise<void>
}>

const KEY = 'a key of 0x'
const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const UNITS = /^[1-9][0-9]*$/

type ParsedRequest = Readonly<{
  router: AggregatorName
  tokenIn: string
  tokenOut: string
  amountIn: string
  fault: Fault | null
  /** Present in build requests. */
  taker?: string
}>
type Fault = Readonly<{ status: number; body: object }>

/** 0x: 401 without a key, 400 with the first error. */
function parseZeroX({ headers }: IncomingMessage, query: URLSearchParams): ParsedRequest {
  const [tokenIn, tokenOut, amountIn] = ['sellToken', 'buyToken', 'sellAmount'].map((name) => query.get(name) ?? '')
  const invalid = (reason: string): Fault => ({
    status: 400,
    body: { name: 'INPUT_INVALID', message: 'The input is invalid', data: { details: [{ field: '', reason }] } },
  })
  const unauthorized = { status: 401, body: { name: 'UNAUTHORIZED', message: 'No Authorization' } }
  const isRight = headers['0x-version'] === 'v2' && query.get('chainId') === '3133700001'
  const fault = headers['0x-api-key'] !== KEY ? unauthorized : isRight ? null : invalid('version or chain')
  const taker = query.get('taker')
  return checkParameters(
    { router: '0x', tokenIn, tokenOut, amountIn, fault, ...(taker === null ? {} : { taker }) },
    invalid('token or amount'),
  )
}

function parseOpenOcean(query: URLSearchParams): ParsedRequest {
  const names = ['inTokenAddress', 'outTokenAddress', 'amountDecimals'] as const
  const [tokenIn, tokenOut, amountIn] = names.map((name) => query.get(name) ?? '')
  const invalid = { status: 200, body: { code: 400, error: 'params error' } }
  const fault = UNITS.test(query.get('gasPriceDecimals') ?? '') ? null : invalid
  const account = query.get('account')
  const taker = account === null ? {} : { taker: account }
  return checkParameters({ router: 'openocean', tokenIn, tokenOut, amountIn, fault, ...taker }, invalid)
}

function parseKyberSwap({ headers }: IncomingMessage, query: URLSearchParams): ParsedRequest {
  const [tokenIn, tokenOut, amountIn] = ['tokenIn', 'tokenOut', 'amountIn'].map((name) => query.get(name) ?? '')
  const body = { code: 4000, message: 'bad request', details: [{ fieldViolations: [] }] }
  const fault = headers['x-client-id'] === undefined ? { status: 400, body } : null
  return checkParameters({ router: 'kyberswap', tokenIn, tokenOut, amountIn, fault }, { status: 400, body })
}

type UncheckedRequest = Omit<ParsedRequest, 'tokenIn' | 'tokenOut' | 'amountIn'> &
  Record<'tokenIn' | 'tokenOut' | 'amountIn', string | undefined>

function checkParameters(
  { tokenIn = '', tokenOut = '', amountIn = '', ...rest }: UncheckedRequest,
  invalid: Fault,
): ParsedRequest {
  const isRight = ADDRESS.test(tokenIn) && ADDRESS.test(tokenOut) && UNITS.test(amountIn)
  return { ...rest, tokenIn, tokenOut, amountIn, fault: rest.fault ?? (isRight ? null : invalid) }
}

/** A KyberSwap build repeats the route summary and adds sender and recipient. */
async function parseKyberBuild(request: IncomingMessage): Promise<ParsedRequest> {
  const fault = { status: 400, body: { code: 4002, message: 'request body is malformed' } }
  const { routeSummary, sender, recipient } = JSON.parse(await text(request))
  const { tokenIn, tokenOut, amountIn } = routeSummary ?? {}
  const isRight = request.method === 'POST' && ADDRESS.test(sender) && sender === recipient
  const [from, to] = [tokenIn, tokenOut].map((address) => `0x${String(address).slice(2).toLowerCase()}`)
  return checkParameters(
    {
      router: 'kyberswap',
      ...{ tokenIn: from, tokenOut: to, amountIn, taker: sender },
      fault: isRight ? null : fault,
    },
    fault,
  )
}

async function parseRequest(request: IncomingMessage): Promise<ParsedRequest | null> {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://aggregators')
  if (pathname === '/swap/allowance-holder/price') return parseZeroX(request, searchParams)
  if (pathname === '/swap/allowance-holder/quote') return parseZeroX(request, searchParams)
  if (pathname === '/v4/eth/quote' || pathname === '/v4/eth/swap') return parseOpenOcean(searchParams)
  if (pathname === '/ethereum/api/v1/route/build') return parseKyberBuild(request)
  return pathname === '/ethereum/api/v1/routes' ? parseKyberSwap(request, searchParams) : null
}

/** The reply to a build request. 0x and OpenOcean extend the quote. */
function transactionReply({ router, amountIn }: ParsedRequest, units: bigint, call: Call, quote: object): object {
  const { target, spender = target, value = 0n, calldata } = call
  if (router === '0x') {
    const issues = { allowance: { actual: '0', spender }, balance: null, simulationIncomplete: true }
    const fees = { gas: '189000', gasPrice: '1000000000' }
    return { ...quote, issues, transaction: { to: target, data: calldata, value: value.toString(), ...fees } }
  }
  if (router === 'openocean') {
    const { data } = quote as { data: object }
    return { code: 200, data: { ...data, to: target, data: calldata, value: value.toString(), gasPrice: '1000000000' } }
  }
  const amounts = { amountIn, amountOut: units.toString(), gas: '189000' }
  const built = { ...amounts, data: calldata, routerAddress: target, transactionValue: value.toString() }
  return { code: 0, message: 'successfully', data: built }
}

/** The reply to a quote request. OpenOcean and KyberSwap return addresses with capital letters. */
function quoteReply({ router, tokenIn, tokenOut, amountIn }: ParsedRequest, units: bigint): object {
  const amountOut = units.toString()
  const capitalize = (address: string) => `0x${address.slice(2).toUpperCase()}`
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
    const [inToken, outToken] = [tokenIn, tokenOut].map((address) => ({ address: capitalize(address), decimals: 18 }))
    return { code: 200, data: { inToken, outToken, inAmount: amountIn, outAmount: amountOut, estimatedGas: '189669' } }
  }
  const sides = { tokenIn: capitalize(tokenIn), amountIn, tokenOut: capitalize(tokenOut), amountOut }
  return { code: 0, message: 'successfully', data: { routeSummary: { ...sides, gas: '189000', route: [[]] } } }
}

const noRoute: Readonly<Record<AggregatorName, Fault>> = {
  '0x': { status: 200, body: { liquidityAvailable: false, zid: '0x111111111111111111111111' } },
  openocean: { status: 200, body: { code: 204, error: 'Insufficient liquidity' } },
  kyberswap: { status: 400, body: { code: 4008, message: 'route not found', requestId: 'a' } },
}

export async function startFakeAggregators(): Promise<FakeAggregators> {
  let behaviours: Partial<Record<AggregatorName, Behaviour>> = {}
  let requests: AggregatorName[] = []
  const server = createServer(async (request, reply) => {
    const parsed = await parseRequest(request)
    if (parsed === null) return void send(reply, { status: 404, body: {} })
    requests.push(parsed.router)
    answer(reply, parsed, behaviours[parsed.router] ?? 'no-route')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    key: KEY,
    behave: (chosen) => {
      behaviours = chosen
    },
    takeRequests: () => {
      const previous = requests
      requests = []
      return previous
    },
    countConnections: () => new Promise((done) => server.getConnections((_error, count) => done(count))),
    stop: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

function answer(reply: ServerResponse, request: ParsedRequest, behaviour: Behaviour): void {
  if (request.fault !== null) send(reply, request.fault)
  else if (behaviour === 'hangs') return
  else if (behaviour === 'hangs-half-way')
    reply.writeHead(200, { 'content-type': 'application/json' }).write('{"code":')
  else if (behaviour === 'nonsense') reply.writeHead(200).end('<html>maintenance</html>')
  else if (behaviour === 'fails') send(reply, { status: 503, body: { message: 'unavailable' } })
  else if (behaviour === 'no-route') send(reply, noRoute[request.router])
  else if (request.taker === undefined) send(reply, { status: 200, body: quoteReply(request, behaviour.pays) })
  else {
    const { tokenIn, tokenOut, amountIn, taker } = request
    const built = behaviour.builds?.({ tokenIn, tokenOut, amountIn, taker }) ?? 'no-route'
    if (typeof built === 'string') answer(reply, request, built)
    else
      send(reply, {
        status: 200,
        body: transactionReply(request, behaviour.pays, built, quoteReply(request, behaviour.pays)),
      })
  }
}

function send(reply: ServerResponse, { status, body }: Fault): void {
  reply.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
