import type { ActiveSwap } from './subproblem.ts'

/*
 * The solution of the dual is a flow, not yet a route: it may contain paths that are too long and, if pool prices differ by more than their
 * fees, cycles. Every token gets a layer, from 0 (source) to the hop limit (target). If every swap leads to a higher layer, no path is too
 * long, there is no cycle, and the order of layers is an execution order.
 */

/**
 * Orders the tokens from source to target with little backward flow. The next token is always the one with the least inflow from tokens
 * that have no position yet. Without cycles that inflow is zero and the order is topological.
 */
function orderTokens(active: readonly ActiveSwap[], tokenCount: number): readonly number[] {
  const inflow = new Float64Array(tokenCount)
  const out: ActiveSwap[][] = Array.from({ length: tokenCount }, () => [])
  for (const one of active) {
    inflow[one.to] = (inflow[one.to] as number) + one.worth
    out[one.from]?.push(one)
  }
  const order: number[] = []
  const isPlaced = new Uint8Array(tokenCount)
  isPlaced[0] = 1
  isPlaced[1] = 1
  for (let next = 0; next >= 0; ) {
    for (const { to, worth } of out[next] as ActiveSwap[]) inflow[to] = Math.max(0, (inflow[to] as number) - worth)
    next = -1
    for (let token = 2; token < tokenCount; token++)
      if (isPlaced[token] === 0 && (next < 0 || (inflow[token] as number) < (inflow[next] as number))) next = token
    if (next < 0) break
    isPlaced[next] = 1
    order.push(next)
  }
  return order
}

/**
 * The layers of a flow: by the longest path to each token, which loses nothing, where the flow has no cycle and no path that is too long;
 * otherwise by cutting an order of the tokens.
 */
export function assignLayers(active: readonly ActiveSwap[], tokenCount: number, hopsMax: number): Uint8Array {
  return layersByPath(active, tokenCount, hopsMax) ?? layersByOrder(active, tokenCount, hopsMax)
}

function layersByPath(active: readonly ActiveSwap[], tokenCount: number, hopsMax: number): Uint8Array | null {
  // Tokens without flow could be in any layer between source and target.
  const layers = new Uint8Array(tokenCount).fill(Math.floor(hopsMax / 2))
  for (const { from, to } of active) layers[from] = layers[to] = 0
  for (let hop = 0, hasChanged = true; hasChanged; hop++) {
    if (hop > hopsMax) return null
    hasChanged = false
    for (const { from, to } of active) {
      if ((layers[to] as number) > (layers[from] as number)) continue
      layers[to] = (layers[from] as number) + 1
      hasChanged = true
    }
  }
  if ((layers[1] as number) > hopsMax) return null
  layers[1] = hopsMax
  return layers
}

/** Cuts the token order into one run per layer by dynamic programming, so that the flow within runs is minimal. */
function layersByOrder(active: readonly ActiveSwap[], tokenCount: number, hopsMax: number): Uint8Array {
  const order = orderTokens(active, tokenCount)
  const layers = new Uint8Array(tokenCount)
  layers[1] = hopsMax
  const count = order.length
  const runs = Math.min(hopsMax - 1, count)
  if (runs <= 0) {
    // There is no layer between source and target. Tokens in the target's layer have no swap to the target.
    for (const token of order) layers[token] = hopsMax
    return layers
  }
  const within = flowsWithin(active, order, tokenCount)
  const width = count + 1
  // cost[run][end]: least flow lost if the first `end` tokens form run + 1 runs. cut[run][end]: start of the last of these runs.
  const cost = Array.from({ length: runs }, () => new Float64Array(width).fill(Number.POSITIVE_INFINITY))
  const cut = Array.from({ length: runs }, () => new Int32Array(width))
  for (let run = 0; run < runs; run++) {
    const [now, begins, before] = [cost[run] as Float64Array, cut[run] as Int32Array, cost[run - 1]]
    for (let end = 1; end <= count; end++) {
      for (let begin = run; begin < end && (before !== undefined || begin === 0); begin++) {
        const lost = (before === undefined ? 0 : (before[begin] as number)) + (within[begin * width + end] as number)
        if (!(lost < (now[end] as number))) continue
        now[end] = lost
        begins[end] = begin
      }
    }
  }
  for (let run = runs - 1, end = count; run >= 0; run--) {
    const begin = (cut[run] as Int32Array)[end] as number
    for (let position = begin; position < end; position++) layers[order[position] as number] = run + 1
    end = begin
  }
  return layers
}

/** Flow among the tokens begin … end − 1 of the order, at index `begin · (count + 1) + end`, in units of the target. */
function flowsWithin(active: readonly ActiveSwap[], order: readonly number[], tokenCount: number): Float64Array {
  const count = order.length
  const position = new Int32Array(tokenCount).fill(-1)
  for (const [index, token] of order.entries()) position[token] = index
  const width = count + 1
  const within = new Float64Array(width * width)
  for (const { from, to, worth } of active) {
    const a = position[from] as number
    const b = position[to] as number
    if (a < 0 || b < 0) continue
    const at = Math.min(a, b) * width + Math.max(a, b) + 1
    within[at] = (within[at] as number) + worth
  }
  for (let begin = count - 1; begin >= 0; begin--) {
    for (let end = begin + 2; end <= count; end++) {
      const own = within[begin * width + end] as number
      const [later, earlier, both] = [(begin + 1) * width + end, begin * width + end - 1, (begin + 1) * width + end - 1]
      within[begin * width + end] =
        own + (within[later] as number) + (within[earlier] as number) - (within[both] as number)
    }
  }
  return within
}
