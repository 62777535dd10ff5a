import { test } from 'vitest'
import { bestStatedRoute } from '../../../src/adapters/router/stated-route.ts'
import { certify } from '../../../src/swap/routing/certificate.ts'
import { createPoolMarket } from '../../../src/swap/routing/pool-market.ts'
import { bestRoute } from '../../../src/swap/routing/route.ts'
import { netBound } from './least-bound.ts'
import { drawTwoHopMarket, kindsOf } from './random-markets.ts'

test.each(['Raydium CPMM', 'Raydium CLMM', 'Raydium AMM v4', 'PumpSwap', 'Meteora DLMM', 'Solana'])('%s', (name) => {
  const res: any[] = []
  for (let seed = 0; seed < 24; seed++) {
    const { pools, request } = drawTwoHopMarket(seed, kindsOf[name]!, { least: 1000, most: 2e5 })
    const market = createPoolMarket(pools)
    const order = {
      network: 'sol',
      tokenIn: request.source,
      tokenOut: request.target,
      amountIn: request.amountIn,
      slippagePpm: 5000,
    }
    const limits = { hopsMax: 2, swapsMax: 4, marginMaxPpm: 10_000, fits: () => true }
    const t0 = performance.now()
    const r = bestStatedRoute(market, order, limits, { gasPrice: 0, isOver: () => false })
    const t1 = performance.now()
    if (r === null || r === 'too-large') {
      console.log(name, seed, r)
      continue
    }
    const free = bestStatedRoute(market, order, { ...limits, swapsMax: 100 }, { gasPrice: 0, isOver: () => false })
    const un = bestRoute(market, request, { hopsMax: 21, swapsMax: 100, gasPrice: 0, isOver: () => false })!
    const { values } = certify(market, request, 0, { execution: un, values: un.values })
    const known = Number(r.amountOut)
    const b = netBound(
      pools,
      request,
      { swapsMax: 4, hasTwoHops: true, marginPpm: 5000 },
      { start: values, known, casesMax: 400 },
    )
    const f = netBound(
      pools,
      request,
      { hasTwoHops: true, marginPpm: 5000 },
      { start: values, known: Number((free as any).amountOut), casesMax: 3 },
    )
    res.push([
      known / b.bound,
      known / b.relaxed,
      known / Number(un.amountOut),
      b.cases,
      Number((free as any).amountOut) / f.bound,
    ])
    console.log(
      name,
      seed,
      pools.length,
      'limit',
      (known / b.bound).toFixed(7),
      'relaxed',
      (known / b.relaxed).toFixed(6),
      'free',
      (known / Number(un.amountOut)).toFixed(6),
      'nolimit',
      (Number((free as any).amountOut) / f.bound).toFixed(7),
      b.cases,
      (t1 - t0).toFixed(1),
      (performance.now() - t1).toFixed(0),
      r.swaps.length,
    )
  }
  for (const i of [0, 1, 2, 4]) console.log(name, i, Math.min(...res.map((x) => x[i])))
})
