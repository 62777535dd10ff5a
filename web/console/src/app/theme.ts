import { type CSSVariablesResolver, createTheme } from '@mantine/core'

/** Shades with a contrast of 4.5 : 1 to their background (WCAG 2.2 AA). */
export const theme = createTheme({
  primaryShade: { light: 8, dark: 8 },
  autoContrast: true,
  cursorType: 'pointer',
  respectReducedMotion: true,
  defaultRadius: 'sm',
})

export const resolveColors: CSSVariablesResolver = ({ colors: { gray, dark, red } }) => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': gray?.[7] ?? '',
    '--mantine-color-placeholder': gray?.[7] ?? '',
    '--mantine-color-error': red?.[9] ?? '',
  },
  dark: {
    '--mantine-color-dimmed': dark?.[1] ?? '',
    '--mantine-color-placeholder': dark?.[1] ?? '',
    '--mantine-color-error': red?.[4] ?? '',
  },
})
