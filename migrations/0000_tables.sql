-- Everything Outlast keeps. `archive` holds the records and what they said before, `sync` the ledger and what
-- was seen on the way, `analytics` the views for people. The migrations' own journal lies in `sync`, so that
-- schema may be there already.
CREATE SCHEMA "analytics";
--> statement-breakpoint
CREATE SCHEMA "archive";
--> statement-breakpoint
CREATE SCHEMA IF NOT EXISTS "sync";
--> statement-breakpoint
CREATE TABLE "sync"."certificates" (
	"project_id" text collate "C" NOT NULL,
	"resource" text collate "C" NOT NULL,
	"month" date NOT NULL,
	"certified_at" timestamp with time zone NOT NULL,
	"certificate" jsonb NOT NULL,
	"digest" "bytea" NOT NULL,
	"leaves_sha256" "bytea" NOT NULL,
	CONSTRAINT "certificates_pkey" PRIMARY KEY("project_id","resource","month")
);
--> statement-breakpoint
CREATE TABLE "sync"."facts" (
	"project_id" text collate "C" NOT NULL,
	"fact" text collate "C" NOT NULL,
	"value" text NOT NULL,
	"confirmed_at" timestamp with time zone NOT NULL,
	"changed_at" timestamp with time zone NOT NULL,
	"previous" text,
	CONSTRAINT "facts_pkey" PRIMARY KEY("project_id","fact")
);
--> statement-breakpoint
CREATE TABLE "archive"."nft_class_versions" (
	"project_id" text collate "C" NOT NULL,
	"id" text collate "C" NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"raw_sha256" "bytea" NOT NULL,
	"raw" jsonb NOT NULL,
	"raw_bytes" "bytea",
	CONSTRAINT "nft_class_versions_pkey" PRIMARY KEY("project_id","id","observed_at","raw_sha256")
);
--> statement-breakpoint
CREATE TABLE "archive"."nft_classes" (
	"project_id" text collate "C" NOT NULL,
	"id" text collate "C" NOT NULL,
	"name" text,
	"symbol" text,
	"nft_count" bigint,
	"uri" text,
	"owner" text,
	"tx_hash" text,
	"created_at" timestamp with time zone,
	"slice_day" date NOT NULL,
	"raw" jsonb NOT NULL,
	"raw_bytes" "bytea",
	"raw_sha256" "bytea" NOT NULL,
	"unread" text[] DEFAULT '{}' NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"first_seen_at" timestamp with time zone NOT NULL,
	"changed_at" timestamp with time zone NOT NULL,
	"missing_since" timestamp with time zone,
	CONSTRAINT "nft_classes_pkey" PRIMARY KEY("project_id","id")
);
--> statement-breakpoint
CREATE TABLE "archive"."order_versions" (
	"project_id" text collate "C" NOT NULL,
	"operation_id" text collate "C" NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"raw_sha256" "bytea" NOT NULL,
	"raw" jsonb NOT NULL,
	"raw_bytes" "bytea",
	CONSTRAINT "order_versions_pkey" PRIMARY KEY("project_id","operation_id","observed_at","raw_sha256")
);
--> statement-breakpoint
CREATE TABLE "archive"."orders" (
	"project_id" text collate "C" NOT NULL,
	"operation_id" text collate "C" NOT NULL,
	"status" integer,
	"message" text,
	"account" text,
	"amount" numeric,
	"number" numeric,
	"created_at" timestamp with time zone,
	"updated_at" timestamp with time zone,
	"order_type" integer,
	"slice_day" date NOT NULL,
	"raw" jsonb NOT NULL,
	"raw_bytes" "bytea",
	"raw_sha256" "bytea" NOT NULL,
	"unread" text[] DEFAULT '{}' NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"first_seen_at" timestamp with time zone NOT NULL,
	"changed_at" timestamp with time zone NOT NULL,
	"missing_since" timestamp with time zone,
	CONSTRAINT "orders_pkey" PRIMARY KEY("project_id","operation_id")
);
--> statement-breakpoint
CREATE TABLE "sync"."pages" (
	"project_id" text collate "C" NOT NULL,
	"resource" text collate "C" NOT NULL,
	"owner" text collate "C" NOT NULL,
	"day" date NOT NULL,
	"walk" integer NOT NULL,
	"page" integer NOT NULL,
	"page_key" text,
	"page_offset" bigint,
	"ids" text[] NOT NULL,
	"rejects" "bytea"[] NOT NULL,
	"total" bigint,
	"asked_at" timestamp with time zone NOT NULL,
	CONSTRAINT "pages_pkey" PRIMARY KEY("project_id","resource","owner","day","walk","page")
);
--> statement-breakpoint
CREATE TABLE "sync"."projects" (
	"project_id" text collate "C" NOT NULL,
	"base_url" text NOT NULL,
	"key_salt" "bytea" NOT NULL,
	"key_fingerprint" "bytea" NOT NULL,
	"added_at" timestamp with time zone NOT NULL,
	"first_day" date NOT NULL,
	"parked_at" timestamp with time zone,
	"parked_reason" text,
	"ask_again_at" timestamp with time zone,
	CONSTRAINT "projects_pkey" PRIMARY KEY("project_id")
);
--> statement-breakpoint
CREATE TABLE "sync"."rate" (
	"project_id" text collate "C" NOT NULL,
	"tokens" numeric NOT NULL,
	"refilled_at" timestamp with time zone NOT NULL,
	"not_before" timestamp with time zone,
	CONSTRAINT "rate_pkey" PRIMARY KEY("project_id")
);
--> statement-breakpoint
CREATE TABLE "sync"."rejects" (
	"project_id" text collate "C" NOT NULL,
	"resource" text collate "C" NOT NULL,
	"sha256" "bytea" NOT NULL,
	"bytes" "bytea" NOT NULL,
	"reason" text NOT NULL,
	"owner" text collate "C" NOT NULL,
	"day" date NOT NULL,
	"seen_at" timestamp with time zone NOT NULL,
	CONSTRAINT "rejects_pkey" PRIMARY KEY("project_id","resource","sha256")
);
--> statement-breakpoint
CREATE TABLE "sync"."runs" (
	"project_id" text collate "C" NOT NULL,
	"run_id" text collate "C" NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone,
	"outcome" text,
	"requests" integer DEFAULT 0 NOT NULL,
	"slices_done" integer DEFAULT 0 NOT NULL,
	"records_shown" bigint DEFAULT 0 NOT NULL,
	"records_new" bigint DEFAULT 0 NOT NULL,
	"records_changed" bigint DEFAULT 0 NOT NULL,
	"records_rejected" bigint DEFAULT 0 NOT NULL,
	"last_error" text,
	CONSTRAINT "runs_pkey" PRIMARY KEY("project_id","run_id")
);
--> statement-breakpoint
CREATE TABLE "sync"."slices" (
	"project_id" text collate "C" NOT NULL,
	"resource" text collate "C" NOT NULL,
	"owner" text collate "C" DEFAULT '' NOT NULL,
	"day" date NOT NULL,
	"state" text DEFAULT 'open' NOT NULL,
	"proof" text DEFAULT 'none' NOT NULL,
	"proved_at" timestamp with time zone,
	"due_at" timestamp with time zone,
	"deadline_at" timestamp with time zone NOT NULL,
	"lease_holder" text,
	"lease_epoch" bigint DEFAULT 0 NOT NULL,
	"lease_until" timestamp with time zone,
	"checkpoint" jsonb,
	"walk" integer DEFAULT 0 NOT NULL,
	"whole_walk" integer DEFAULT 0 NOT NULL,
	"walked_at" timestamp with time zone,
	"observed_at" timestamp with time zone,
	"platform_total" bigint,
	"shown_total" bigint,
	"unresolved" integer DEFAULT 0 NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	CONSTRAINT "slices_pkey" PRIMARY KEY("project_id","resource","owner","day"),
	CONSTRAINT "slices_state" CHECK (state in ('open', 'walked', 'sealed', 'final', 'lost')),
	CONSTRAINT "slices_proof" CHECK (proof in ('none', 'counts', 'walk', 'walks')),
	CONSTRAINT "slices_resource" CHECK (resource in ('orders', 'nft_classes'))
);
--> statement-breakpoint
CREATE TABLE "archive"."token_versions" (
	"project_id" text collate "C" NOT NULL,
	"symbol" text collate "C" NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"raw_sha256" "bytea" NOT NULL,
	"raw" jsonb NOT NULL,
	"raw_bytes" "bytea",
	CONSTRAINT "token_versions_pkey" PRIMARY KEY("project_id","symbol","observed_at","raw_sha256")
);
--> statement-breakpoint
CREATE TABLE "archive"."tokens" (
	"project_id" text collate "C" NOT NULL,
	"symbol" text collate "C" NOT NULL,
	"name" text,
	"min_unit" text,
	"scale" integer,
	"initial_supply" numeric,
	"max_supply" numeric,
	"mintable" boolean,
	"owner" text,
	"issue_fee_denom" text,
	"issue_fee_amount" numeric,
	"mint_fee_denom" text,
	"mint_fee_amount" numeric,
	"height" bigint,
	"raw" jsonb NOT NULL,
	"raw_bytes" "bytea",
	"raw_sha256" "bytea" NOT NULL,
	"unread" text[] DEFAULT '{}' NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"first_seen_at" timestamp with time zone NOT NULL,
	"changed_at" timestamp with time zone NOT NULL,
	"missing_since" timestamp with time zone,
	CONSTRAINT "tokens_pkey" PRIMARY KEY("project_id","symbol")
);
--> statement-breakpoint
CREATE TABLE "archive"."transaction_versions" (
	"project_id" text collate "C" NOT NULL,
	"api_version" text collate "C" NOT NULL,
	"operation_id" text collate "C" NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"raw_sha256" "bytea" NOT NULL,
	"raw" jsonb NOT NULL,
	"raw_bytes" "bytea",
	CONSTRAINT "transaction_versions_pkey" PRIMARY KEY("project_id","api_version","operation_id","observed_at","raw_sha256")
);
--> statement-breakpoint
CREATE TABLE "archive"."transactions" (
	"project_id" text collate "C" NOT NULL,
	"api_version" text collate "C" NOT NULL,
	"operation_id" text collate "C" NOT NULL,
	"module" text,
	"type" text,
	"operation" integer,
	"tx_hash" text,
	"status" integer,
	"message" text,
	"block_height" bigint,
	"confirmed_at" timestamp with time zone,
	"nft" jsonb,
	"mt" jsonb,
	"record" jsonb,
	"raw" jsonb NOT NULL,
	"raw_bytes" "bytea",
	"raw_sha256" "bytea" NOT NULL,
	"unread" text[] DEFAULT '{}' NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"first_seen_at" timestamp with time zone NOT NULL,
	"changed_at" timestamp with time zone NOT NULL,
	"missing_since" timestamp with time zone,
	CONSTRAINT "transactions_pkey" PRIMARY KEY("project_id","api_version","operation_id"),
	CONSTRAINT "transactions_api_version" CHECK (api_version in ('v1beta1', 'v3'))
);
--> statement-breakpoint
CREATE TABLE "sync"."watched_operations" (
	"project_id" text collate "C" NOT NULL,
	"operation_id" text collate "C" NOT NULL,
	"api_version" text,
	"created_on" date,
	"added_at" timestamp with time zone DEFAULT now() NOT NULL,
	"state" text DEFAULT 'open' NOT NULL,
	"due_at" timestamp with time zone DEFAULT now(),
	"deadline_at" timestamp with time zone,
	"lease_holder" text,
	"lease_epoch" bigint DEFAULT 0 NOT NULL,
	"lease_until" timestamp with time zone,
	"attempts" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	CONSTRAINT "watched_operations_pkey" PRIMARY KEY("project_id","operation_id"),
	CONSTRAINT "watched_operations_state" CHECK (state in ('open', 'done', 'lost'))
);
--> statement-breakpoint
CREATE INDEX "nft_classes_listed" ON "archive"."nft_classes" USING btree ("project_id","slice_day",coalesce(created_at, 'infinity'::timestamptz),"id");--> statement-breakpoint
CREATE INDEX "nft_classes_owner" ON "archive"."nft_classes" USING btree ("project_id","owner","slice_day");--> statement-breakpoint
CREATE INDEX "orders_listed" ON "archive"."orders" USING btree ("project_id","slice_day",coalesce(created_at, 'infinity'::timestamptz),"operation_id");--> statement-breakpoint
CREATE INDEX "orders_pending" ON "archive"."orders" USING btree ("project_id","slice_day") WHERE status = 1;--> statement-breakpoint
CREATE INDEX "orders_account" ON "archive"."orders" USING btree ("project_id","account","slice_day");--> statement-breakpoint
CREATE INDEX "runs_started" ON "sync"."runs" USING btree ("project_id","started_at");--> statement-breakpoint
CREATE INDEX "slices_due" ON "sync"."slices" USING btree ("project_id","due_at");--> statement-breakpoint
CREATE INDEX "watched_operations_due" ON "sync"."watched_operations" USING btree ("project_id","due_at");