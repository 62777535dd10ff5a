import { notModified, publicErrors, type RouteDefinition, xml } from './route-definition.ts'
import { Live, Ready } from './service.ts'

/** The rates feed and the health checks. */
export const serviceRoutes = {
  getRates: {
    method: 'GET',
    path: '/v1/rates',
    tag: 'Rates',
    summary: 'Rates feed',
    description:
      'XML in the format of rate monitors. Public; an API key makes no difference. `amount` and `maxamount` are computed from reserves that are rounded down to two digits.',
    access: 'public',
    isOpenToPages: true,
    cost: 1,
    success: {
      200: {
        description: 'All currently available directions.',
        contentType: xml,
        headers: ['ETag', 'Last-Modified'],
        example:
          '<?xml version="1.0" encoding="UTF-8"?>\n<rates>\n<item><from>BTC</from><to>USDTERC20</to><in>1</in><out>64210.55</out><amount>182034.12</amount><minamount>0.0004</minamount><maxamount>2.8</maxamount><param>floating</param></item>\n</rates>\n',
      },
      304: { ...notModified, headers: ['ETag', 'Last-Modified'] },
    },
    errors: publicErrors,
  },
  headRates: {
    method: 'HEAD',
    path: '/v1/rates',
    tag: 'Rates',
    summary: 'Headers of the rates feed',
    description: 'The headers of GET, without the body.',
    access: 'public',
    isOpenToPages: true,
    cost: 1,
    success: {
      200: { description: 'Headers only.', headers: ['ETag', 'Last-Modified'] },
      304: { ...notModified, headers: ['ETag', 'Last-Modified'] },
    },
    errors: publicErrors,
  },
  getLive: {
    method: 'GET',
    path: '/health/live',
    tag: 'Service',
    summary: 'Liveness',
    description: 'Answers while the process runs, also while it shuts down.',
    access: 'public',
    cost: 0,
    success: { 200: { description: 'The process is running.', schema: Live } },
    errors: [400, 405, 408, 414, 431],
  },
  getReady: {
    method: 'GET',
    path: '/health/ready',
    tag: 'Service',
    summary: 'Readiness',
    description:
      'Answers 200 while at least one direction can be quoted; otherwise 503 with the reasons. The first time it also waits until every direction can be quoted, also privately, and is in the rates feed, except those of a currency that is disabled, paused, off its peg or without a price, and those whose target has too small a reserve.',
    access: 'public',
    cost: 0,
    success: { 200: { description: 'Ready: at least one direction can be quoted.', schema: Ready } },
    errors: [400, 405, 408, 414, 431, 503],
  },
} as const satisfies Record<string, RouteDefinition>
