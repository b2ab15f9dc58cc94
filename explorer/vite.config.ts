import { defineConfig } from "vite";
import { digestOf } from "./sources.ts";

// One script and one style sheet with fixed names: the server sends them as they are, and an exported file inlines them.
export default defineConfig({
  base: "./",
  publicDir: false,
  plugins: [
    {
      name: "digest-of-sources",
      transformIndexHtml: () => [
        { tag: "meta", attrs: { name: "sources", content: digestOf(import.meta.dirname) }, injectTo: "head" },
      ],
    },
  ],
  build: {
    outDir: "../tritium/explorer/static",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    sourcemap: false,
    reportCompressedSize: false,
    assetsInlineLimit: 100_000,
    chunkSizeWarningLimit: 3000,
    rollupOptions: {
      output: { entryFileNames: "explorer.js", assetFileNames: "explorer[extname]", codeSplitting: false },
    },
  },
});
