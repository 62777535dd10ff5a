export type Encoding = 'br' | 'gzip' | 'identity'

/** The client's preferred encoding among those offered (best first), or `identity`. RFC 9110 §12.5.3. */
export function negotiateEncoding(header: string | undefined, offered: readonly Encoding[]): Encoding {
  if (header === undefined || header === '') return 'identity'
  const weights = new Map<string, number>()
  for (const part of header.split(',')) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1'
    weights.set(name === 'x-gzip' ? 'gzip' : name, toThousandths(weight))
  }
  const others = weights.get('*') ?? 0
  let best: Encoding = 'identity'
  let bestWeight = 0
  for (const encoding of offered) {
    const weight = weights.get(encoding) ?? others
    if (weight > bestWeight) {
      best = encoding
      bestWeight = weight
    }
  }
  return (weights.get('identity') ?? 0) > bestWeight ? 'identity' : best
}

/** A weight of RFC 9110 §12.4.2, 0 to 1 with at most three decimals, in thousandths. A malformed weight counts as 0. */
export function toThousandths(weight: string): number {
  const [, whole, fraction = ''] = /^([01])(?:\.([0-9]{0,3}))?$/.exec(weight) ?? []
  return whole === '1' ? 1000 : whole === '0' ? Number.parseInt(fraction.padEnd(3, '0'), 10) : 0
}
