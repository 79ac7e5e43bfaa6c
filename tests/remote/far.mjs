// A window for tests, over the real client: JSON lines in (what to do), JSON lines out (what came).
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const [packages, url, token, auth] = process.argv.slice(2);
const { io } = createRequire(`${packages}/`)("socket.io-client");
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

const socket = io(url, {
  transports: ["websocket"],
  extraHeaders: { Authorization: `Bearer ${token}` },
  auth: JSON.parse(auth),
  reconnectionDelay: 20,
  reconnectionDelayMax: 50,
});
socket.on("connect", () => say({ kind: "connected" }));
socket.on("disconnect", (reason) => say({ kind: "disconnected", data: reason }));
socket.on("connect_error", (error) =>
  say({ kind: "refused", data: { code: error.data?.code ?? "http", message: error.message } }),
);
socket.onAny((kind, data) => say({ kind, data }));

for await (const line of createInterface({ input: process.stdin })) {
  const { act, event, data } = JSON.parse(line);
  if (act === "cut") socket.io.engine.transport.ws._socket.destroy();
  else if (act === "connect") socket.connect();
  else if (act === "tell") socket.emit(event, data);
  else socket.emit(event, data, (answer) => say({ kind: "ack", data: answer }));
}
socket.disconnect();
