export type Encoding = 'br' | 'gzip' | 'identity'

/** What the client likes most of what is offered (best first), or `identity`. RFC 9110 §12.5.3. */
export function negotiateEncoding(header: string | undefined, offered: readonly Encoding[]): Encoding {
  if (header === undefined || header === '') return 'identity'
  const weights = new Map<string, number>()
  for (const part of header.split(',')) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
    weights.set(name === 'x-gzip' ? 'gzip' : name, weight === undefined ? 1 : Number.parseFloat(weight) || 0)
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
