// Package websocket upgrades requests to websockets.
//
// Its names are client-go's, and the websockets are those of github.com/gorilla/websocket.
package websocket
